import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import type { JsonObject } from "../../platform/values/json.ts";
import { isJsonObject } from "../../platform/values/json.ts";
import type {
  AnsweredCall,
  StreamedText,
  ToolCallOutcome,
  ToolCallRequest,
  UnknownCall,
} from "../tool_contracts/tool_call.ts";
import type { ToolCaller } from "../tool_contracts/tool_caller.ts";
import type { DraftTools, ToolGateway } from "../tool_contracts/tool_gateway.ts";
import {
  externalMeta,
  failureOf,
  messageOf,
  resultOfAnswer,
  type ToolCallResult,
} from "../mcp/call_result.ts";
import type { ExecuteRequest } from "./execute_request.ts";
import { nameNearestServers } from "../mcp/name_nearest_servers.ts";

/** The dependencies of one call through the plain JSON endpoint. */
export interface ExecuteOptions {
  readonly gateway: ToolGateway;
  readonly caller: ToolCaller;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  readonly signal: AbortSignal;
  /** Receives the answer's text as it streams in. @default no streaming */
  readonly onText?: (text: StreamedText) => void;
}

/**
 * Calls a tool and returns its result, even if the tool itself failed or rejected its arguments; or
 * lists the tools of a draft.
 *
 * @throws SwarmError if the gateway refused the call; `details` contain the call's ids.
 */
export async function executeTool(
  request: ExecuteRequest,
  { gateway, caller, traceparent, tracestate, signal, onText }: ExecuteOptions,
): Promise<ToolCallResult | DraftTools> {
  const server = await serverOf(request, gateway, caller);
  const { draft, tool_name: toolName } = request;
  if (draft !== undefined && toolName === undefined) {
    return await gateway.listDraft(draft, { server, caller }, signal);
  }
  const call: ToolCallRequest = {
    server,
    toolName: toolName ?? "",
    arguments: request.parameters,
    caller,
    stepSeq: null,
    attempt: 1,
    idempotencyKey: crypto.randomUUID(),
    traceparent,
    tracestate,
    ...definedOnly({ onText }),
  };
  const outcome =
    await (draft === undefined ? gateway.call(call, signal) : gateway.tryCall(draft, call, signal));
  if (outcome.kind === "unknown") throw lost(outcome);
  if (outcome.kind === "input_required") {
    throw new SwarmError(
      "TOOL_FAILED",
      "The tool requests input that this endpoint cannot provide",
      {
        details: trailOf(outcome),
      },
    );
  }
  if (outcome.status !== 200) {
    const refusal = refused(outcome);
    throw draft === undefined
      ? await nameNearestServers(refusal, { server, gateway, caller })
      : refusal;
  }
  const result = resultOfAnswer(outcome, { hasOutputSchema: false });
  return { ...result, ...failureOf(outcome) };
}

async function serverOf(
  { connection_id, server }: ExecuteRequest,
  gateway: ToolGateway,
  caller: ToolCaller,
): Promise<string> {
  if (connection_id === undefined) return server ?? "";
  const found = await gateway.findConnection(connection_id, caller);
  if (found === null) {
    throw new SwarmError("TOOL_NOT_FOUND", `Connection ${connection_id} not found`, {
      hint: "Send server instead; its connection is created with the first call.",
    });
  }
  if (server === undefined || server === found) return found;
  throw new SwarmError("BODY_INVALID", `Connection ${connection_id} belongs to '${found}'`, {
    hint: "Send only connection_id or only server.",
  });
}

function refused(answer: AnsweredCall): SwarmError {
  const { errorCode = "TOOL_FAILED", hint, details, retryAfterMs } = answer;
  return new SwarmError(errorCode, messageOf(answer), {
    ...definedOnly({ hint }),
    ...(retryAfterMs === undefined ? {} : { retryAfterSeconds: retryAfterMs / 1_000 }),
    details: {
      ...failureOf(answer),
      ...(isJsonObject(details) ? details : details === undefined ? {} : { reason: details }),
      ...definedOnly({ class: answer.errorClass }),
      ...trailOf(answer),
    },
  });
}

function lost(outcome: UnknownCall): SwarmError {
  const { errorCode, message, hint, details } = outcome;
  return new SwarmError(errorCode, message, {
    hint,
    details: { ...failureOf(outcome), ...details, ...trailOf(outcome) },
  });
}

function trailOf(call: ToolCallOutcome): JsonObject {
  const { executionId, feedbackToken } = call;
  return { execution_id: executionId, feedback_token: feedbackToken, ...externalMeta(call) };
}
