import { z } from "../../../../vendor/zod.js";
import { textBlock } from "../../../../platform/values/content_block.ts";
import { runAsOperator, runAsUser } from "../../../../platform/db/run_as_user.ts";
import type { Sql } from "../../../../platform/db/sql_client.ts";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { ApprovalRequired } from "../../../tool_contracts/approval.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import type { JsonObject, JsonValue } from "../../../../platform/values/json.ts";
import type { CallModel } from "../../../../models/llm/call_model.ts";
import type { Logger } from "../../../../platform/log/logger.ts";
import { timeOrderedId } from "../../../../platform/values/time_ordered_id.ts";
import { claimsOfCall } from "../../../tool_contracts/tool_caller.ts";
import { withDeadline } from "../../../../platform/values/with_deadline.ts";
import { contentText } from "../../../../platform/values/content_text.ts";
import type { ServerFeatures } from "../../../tool_contracts/server_tools.ts";
import type { ToolCaller } from "../../../tool_contracts/tool_caller.ts";
import type {
  Answered,
  CallInput,
  ServerAnswer,
  ServerCall,
  ToolServer,
} from "../../../tool_contracts/tool_server.ts";
import { assertCanBeAsked } from "../../../tool_contracts/assert_can_be_asked.ts";
import {
  InputRequired,
  type InternalServer,
  type InternalTool,
  type RunAsCallerOptions,
  type ToolContext,
  ToolReply,
} from "../../../tool_contracts/internal_server.ts";
import type { ToolDefinition } from "../../../tool_contracts/tool_definition.ts";
import { insufficientScope, missingScopes } from "../../../tool_contracts/tool_scopes.ts";
import { isOlderVersion } from "../../../tool_contracts/tool_versions.ts";
import { callToolModel } from "./call_tool_model.ts";
import { relayInternal } from "./relay_internal.ts";
import { withHint } from "../../../../platform/errors/with_hint.ts";

interface InternalServerOptions {
  readonly server: InternalServer;
  /** `tools.slug` of its registry row. */
  readonly slug: string;
  readonly sql: Sql;
  readonly callModel: CallModel;
  readonly supabaseUrl: string;
  readonly publicUrl: string;
  readonly secretKey: string;
  /** A `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
  readonly log: Logger;
}

/** How much longer the call waits than a statement's own timeout, whose error is more specific. */
const STATEMENT_GRACE_MS = 250;

/**
 * An internal server behind the common tool server port: its tools get a context, and their output
 * is validated against their schemas and converted to an answer.
 */
export function openInternalServer(options: InternalServerOptions): ToolServer {
  const { server } = options;
  return {
    listTools: () => Promise.resolve({ tools: newestDefinitions(server), dropped: [] }),
    callTool: (call, signal) => callTool(options, call, signal),
    relay: (request, signal) =>
      relayInternal(server, request, (deadline) =>
        createContext(options, {
          caller: request.caller,
          input: request.input,
          signal: deadline,
          timeoutMs: request.timeoutMs,
        }), signal),
  };
}

/** The newest version of each tool; only this one has the plain name. */
export function newestDefinitions({ tools }: InternalServer): ToolDefinition[] {
  const definitions = tools.map(({ definition }) => definition);
  return definitions.filter((definition) => !isOlderVersion(definition, definitions));
}

/** An internal server's capabilities besides tools. */
export function internalFeatures(server: InternalServer): ServerFeatures {
  return {
    hasResources: server.resources !== undefined || server.resourceTemplates !== undefined,
    hasPrompts: server.prompts !== undefined,
    hasCompletions: server.complete !== undefined,
    hasLogging: server.logsForCallers === true,
    instructions: server.instructions ?? null,
    version: server.version ?? null,
    metadata: server.metadata ?? {},
  };
}

async function callTool(
  options: InternalServerOptions,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { name, version } = call.definition;
  const tool = options.server.tools.find(({ definition }) =>
    definition.name === name && definition.version === version
  );
  if (tool === undefined) {
    throw new SwarmError("TOOL_NOT_FOUND", `Tool '${name}' not found`);
  }
  const timed = await withDeadline(call.timeoutMs, signal, async (deadline) => {
    const context = createContext(options, {
      caller: call.caller,
      input: call.input,
      signal: deadline,
      timeoutMs: call.timeoutMs,
      call,
    });
    return await runTool(tool, call.arguments, context);
  });
  if (timed.kind === "timeout") {
    const message = `'${name}' of '${options.server.name}' took longer than ${call.timeoutMs} ms`;
    return { kind: "lost", cause: "timeout", message };
  }
  return timed.value;
}

async function runTool(
  tool: InternalTool,
  args: JsonObject,
  context: ToolContext,
): Promise<ServerAnswer> {
  const parsed = tool.input.safeParse(args);
  if (!parsed.success) {
    const text = `Cannot call '${tool.definition.name}': ${z.prettifyError(parsed.error)}`;
    return errorAnswer(new SwarmError("TOOL_ARGUMENTS_INVALID", text));
  }
  try {
    return answerOf(tool, await tool.run(parsed.data, context), context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof ApprovalRequired) throw error;
    if (error instanceof SwarmError) return errorAnswer(error);
    context.log("error", "tool.internal_error", {
      tool: tool.definition.name,
      error: String(error),
    });
    return errorAnswer(
      new SwarmError("INTERNAL", `'${tool.definition.name}' failed with an internal error`, {
        hint: "Try again; the cause is in the function's log.",
      }),
    );
  }
}

function answerOf(tool: InternalTool, result: unknown, context: ToolContext): ServerAnswer {
  if (result instanceof SwarmError) return errorAnswer(result);
  if (result instanceof InputRequired) return askInput(result, context);
  if (!(result instanceof ToolReply)) {
    const structured = checkedOutput(tool, result);
    const text = JSON.stringify(structured);
    return { kind: "answered", text, content: [textBlock(text)], structured, isError: false };
  }
  const { content, options: { structured, isError = false, meta, errorCode, hint, details } } =
    result;
  const checked = structured === undefined || isError || tool.output === null
    ? structured
    : checkedOutput(tool, structured);
  return {
    kind: "answered",
    text: contentText(content),
    content,
    isError,
    ...definedOnly({ structured: checked, meta, errorCode, hint, details }),
  };
}

function askInput(asked: InputRequired, { inputCapabilities }: ToolContext): ServerAnswer {
  assertCanBeAsked(asked, inputCapabilities);
  const { inputRequests, requestState } = asked;
  return {
    kind: "input_required",
    inputRequests,
    ...definedOnly({ requestState }),
  };
}

/** A tool that violates its own output schema is an internal error, not the caller's. */
function checkedOutput(tool: InternalTool, result: unknown): JsonValue {
  if (tool.output === null) {
    throw new Error(`${tool.definition.name} returns structured output but declares none`);
  }
  return JSON.parse(JSON.stringify(tool.output.parse(result))) as JsonValue;
}

function errorAnswer({ code, message, hint, details }: SwarmError): Answered {
  return {
    kind: "answered",
    text: withHint(message, hint),
    isError: true,
    errorCode: code,
    ...definedOnly({ hint, details }),
  };
}

/** The parts that differ between the contexts of one server. */
interface ContextOptions {
  readonly caller: ToolCaller;
  readonly input: CallInput;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Absent for resources and prompts. */
  readonly call?: ServerCall;
}

function createContext(
  { slug, sql, callModel, supabaseUrl, publicUrl, secretKey, fetch, log }: InternalServerOptions,
  { caller, input, signal, timeoutMs, call }: ContextOptions,
): ToolContext {
  const endsAtMs = performance.now() + timeoutMs;
  const executionId = call?.executionId ?? timeOrderedId();
  return {
    sql,
    supabaseUrl,
    publicUrl,
    secretKey,
    fetch,
    log,
    caller,
    signal,
    executionId,
    idempotencyKey: call?.idempotencyKey ?? executionId,
    traceparent: call?.traceparent ?? null,
    tracestate: call?.tracestate ?? null,
    acceptsInput: input.capabilities.elicitation !== undefined,
    inputCapabilities: input.capabilities,
    inputResponses: input.responses,
    requestState: input.state,
    approval: call?.approval ?? "none",
    progress: (done, total, message) =>
      call?.onProgress?.({
        done,
        ...definedOnly({ total, message }),
      }),
    streamText: textSender(call?.onText ?? null),
    logForCaller: (level, data) => call?.logs?.write({ level, data }),
    runAsCaller: (work, options = {}) => {
      const leftMs = Math.max(1, endsAtMs - performance.now() - STATEMENT_GRACE_MS);
      return runAsUser(sql, userTransaction(caller, signal, leftMs, options), work);
    },
    runAsOperator: (work, options = {}) => {
      const leftMs = Math.max(1, endsAtMs - performance.now() - STATEMENT_GRACE_MS);
      return runAsOperator(sql, userTransaction(caller, signal, leftMs, options), work);
    },
    requireScopes: (scopes) => {
      const missing = missingScopes(scopes, call === undefined ? [] : call.grantedScopes);
      if (missing.length > 0) throw insufficientScope("do this", missing);
    },
    keepFromLedger: (value) => call?.onUnrecordedValue(value),
    callModel: (request) =>
      callToolModel(request, {
        sql,
        callModel,
        log,
        signal,
        server: slug,
        toolName: call?.definition.name ?? null,
        toolVersion: call?.definition.version ?? null,
        caller,
        executionId,
        stepSeq: call?.stepSeq ?? null,
        endsAtMs,
        onModelUse: (use) => call?.onModelUse(use),
      }),
    usedModel: (use) => call?.onModelUse(use),
  };
}

function textSender(onText: ServerCall["onText"]): ToolContext["streamText"] {
  return onText === null ? null : ({ text, isRestart = false }) => onText({ text, isRestart });
}

function userTransaction(
  caller: ToolCaller,
  signal: AbortSignal,
  leftMs: number,
  { isReadOnly = true, statementTimeoutMs = leftMs, settings = {} }: RunAsCallerOptions,
) {
  const { userId } = caller;
  if (userId === null) {
    throw new SwarmError(
      "CALLER_REQUIRED",
      "Cannot run this: it runs with a user's rights, and the call has no user",
      { hint: "Call as a signed-in user, or with a secret key on_behalf_of one." },
    );
  }
  return {
    userId,
    ...definedOnly({ tokenClaims: caller.tokenClaims }),
    claims: claimsOfCall(caller),
    isReadOnly,
    settings,
    signal,
    statementTimeoutMs: Math.min(statementTimeoutMs, leftMs),
  };
}
