import { withHint } from "../../platform/errors/with_hint.ts";
import { definedOnly } from "../../platform/values/defined_only.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { asJsonObject, type JsonObject } from "../../platform/values/json.ts";
import type {
  AnsweredCall,
  ToolCallOutcome,
  ToolCallRequest,
  ToolLogLevel,
  ToolLogSink,
  ToolProgress,
} from "../tool_contracts/tool_call.ts";
import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
  ServerContext,
} from "../../vendor/mcp_server.js";
import { inputOffer } from "./input_offer.ts";
import {
  metaOfAsking,
  resultOfAnswer,
  resultOfRefusal,
  resultOfUnknown,
  type ResultOptions,
  toSdkResult,
} from "./call_result.ts";
import type { Exchange, McpSdk } from "./exchange.ts";
import { offeredNameOf } from "../tool_contracts/tool_versions.ts";
import type { DirectoryEntry } from "./tool_directory.ts";

/** An exchange with the tool of its single call; null if it has several calls. */
export interface CallExchange extends Exchange {
  readonly called: DirectoryEntry | null;
}

/** Maximum length of an unknown tool's name in a message. */
const MAX_NAME_CHARACTERS = 300;
const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";

/**
 * Runs a `tools/call` through the gateway. A failure is a result that a model can read; protocol
 * errors are only an unknown tool, a question that the client cannot answer, and an invalid state.
 */
export async function handleCall(
  sdk: McpSdk,
  exchange: CallExchange,
  { params }: CallToolRequest,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const found = exchange.called ?? await exchange.directory.find(params.name);
  if (found.kind === "unknown") throw unknownTool(sdk, params.name, found.nearest);
  const request = toRequest(exchange, found, params, context);
  const options = resultOptions(found);
  const prepared = found.kind === "tool" ? found.prepared : undefined;
  let outcome: ToolCallOutcome;
  try {
    const { signal } = context.mcpReq;
    const call = prepared?.run(request, signal) ?? exchange.gateway.call(request, signal);
    exchange.keepAlive(call.catch(() => {}));
    outcome = await call;
  } catch (error) {
    context.mcpReq.signal.throwIfAborted();
    if (error instanceof SwarmError) return toSdkResult(resultOfRefusal(error, options));
    throw error;
  }
  switch (outcome.kind) {
    case "unknown":
      return toSdkResult(resultOfUnknown(outcome, options));
    case "input_required":
      return toInputRequired(outcome);
    case "answered":
      throwProtocolError(sdk, outcome, context.mcpReq.envelope !== undefined);
      return toSdkResult(resultOfAnswer(outcome, options));
  }
}

/** For a tool that cannot be listed now, the client may have an earlier schema. */
function resultOptions(found: DirectoryEntry): ResultOptions {
  return { hasOutputSchema: found.kind !== "tool" || found.tool.outputSchema !== undefined };
}

function throwProtocolError(
  sdk: McpSdk,
  { errorCode, text, details }: AnsweredCall,
  isStateless: boolean,
): void {
  switch (errorCode) {
    case "TOOL_NOT_FOUND":
    case "TOOL_STATE_INVALID":
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, text);
    case "TOOL_ASKS_MORE": {
      if (!isStateless) return; // The earlier protocol has no such error.
      const requiredCapabilities = asJsonObject(asJsonObject(details).required_capabilities);
      throw new sdk.MissingRequiredClientCapabilityError({ requiredCapabilities }, text);
    }
  }
}

function toRequest(
  exchange: Exchange,
  found: Exclude<DirectoryEntry, { readonly kind: "unknown" }>,
  params: CallToolRequest["params"],
  { mcpReq }: ServerContext,
): ToolCallRequest {
  const { progressToken } = mcpReq._meta ?? {};
  return {
    server: found.server,
    toolName: found.kind === "tool" ? offeredNameOf(found.tool) : found.toolName,
    arguments: (params.arguments ?? {}) as JsonObject,
    caller: exchange.caller,
    stepSeq: null,
    attempt: 1,
    idempotencyKey: crypto.randomUUID(),
    traceparent: exchange.traceparent,
    tracestate: exchange.tracestate,
    input: inputOffer(mcpReq),
    ...logsFor(mcpReq),
    ...(progressToken === undefined ? {} : progressSinks(progressToken, mcpReq)),
  };
}

/** A client of the earlier protocol sets its level in a separate request, which is not stored. */
function logsFor({ envelope, log, signal }: ServerContext["mcpReq"]): { logs?: ToolLogSink } {
  const level = envelope === undefined
    ? "debug"
    : asJsonObject(envelope as JsonObject)[LOG_LEVEL_KEY];
  if (typeof level !== "string") return {};
  const write: ToolLogSink["write"] = ({ level, data, logger }) => {
    if (signal.aborted) return;
    log(level, data, logger).catch(() => {}); // A disconnected client needs no log.
  };
  return { logs: { level: level as ToolLogLevel, write } };
}

/**
 * Progress, and the answer's text as progress messages. The protocol requires the number to increase,
 * regardless of the tool's values, and none after the end: it is the tool's own plus the characters.
 */
function progressSinks(
  progressToken: string | number,
  { notify, signal }: ServerContext["mcpReq"],
): Required<Pick<ToolCallRequest, "onProgress" | "onText">> {
  let done = Number.NEGATIVE_INFINITY;
  let characters = 0;
  const tell = ({ total, message }: Pick<ToolProgress, "total" | "message">) => {
    if (signal.aborted) return;
    notify({
      method: "notifications/progress",
      params: {
        progressToken,
        progress: done + characters,
        ...definedOnly({ total: total === undefined ? undefined : total + characters, message }),
      },
    }).catch(() => {}); // A disconnected client needs no progress.
  };
  return {
    onProgress: (progress) => {
      if (!(progress.done > done)) return;
      done = progress.done;
      tell(progress);
    },
    onText: ({ text }) => {
      done = Math.max(done, 0);
      // Increases even for an empty part.
      characters += Math.max(1, text.length);
      tell({ message: text });
    },
  };
}

function toInputRequired(
  outcome: ToolCallOutcome & { readonly kind: "input_required" },
): InputRequiredResult {
  const { inputRequests, requestState } = outcome;
  const result = {
    resultType: "input_required",
    inputRequests,
    ...definedOnly({ requestState }),
    _meta: metaOfAsking(outcome),
  };
  return result as unknown as InputRequiredResult;
}

function unknownTool(sdk: McpSdk, name: string, nearest: readonly string[]): Error {
  const hint = nearest.length === 0 ? "There is none." : `There is: ${nearest.join(", ")}.`;
  return new sdk.ProtocolError(
    sdk.ProtocolErrorCode.InvalidParams,
    withHint(`Unknown tool: ${name.slice(0, MAX_NAME_CHARACTERS)}`, hint),
    { code: "TOOL_NOT_FOUND", nearest: [...nearest] },
  );
}
