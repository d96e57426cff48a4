import { z } from "../../../../vendor/zod.js";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { SwarmError } from "../../../../platform/errors/swarm_error.ts";
import { asJsonObject, type JsonObject } from "../../../../platform/values/json.ts";
import { type JsonLimits, LISTING_LIMITS } from "../../../../platform/json/json_limits.ts";
import { isNestedTooDeep } from "../../../../platform/values/json_depth.ts";
import { jsonObject } from "../../../../platform/values/json_schema.ts";
import { toTraceHeaders } from "../../../../platform/http/trace_context.ts";
import type { Credential } from "../../../tool_contracts/credential.ts";
import { withDeadline } from "../../../../platform/values/with_deadline.ts";
import { plainValues } from "../../credentials/extra_secrets.ts";
import type { McpServerConfig } from "../../../tool_contracts/tool_config.ts";
import { isRepeatable, type ToolDefinition } from "../../../tool_contracts/tool_definition.ts";
import type { ServerFeatures } from "../../../tool_contracts/server_tools.ts";
import type { ToolLogSink } from "../../../tool_contracts/tool_call.ts";
import type {
  CallInput,
  ServerAnswer,
  ServerCall,
  ServerRelay,
  ToolListing,
  ToolServer,
} from "../../../tool_contracts/tool_server.ts";
import type { CallToolResult, Tool } from "../../../../vendor/mcp_client.js";
import {
  type ConnectionState,
  UNKNOWN_CONNECTION,
} from "../../../tool_contracts/connection_state.ts";
import { listMcpTools } from "./list_mcp_tools.ts";
import { type ConnectedClient, connectMcpClient } from "./mcp_client.ts";
import { answerOfFailure, asksMoreOf, errorOfFailure, errorOfRelay } from "./mcp_failure.ts";
import { createMcpFetch, emptyTrace, type RequestTrace } from "./mcp_fetch.ts";
import { META_PREFIX } from "../../../tool_contracts/meta_keys.ts";
import { saysSessionIsLost } from "./reading/lost_session.ts";
import { sessionLossOf, SessionLostResult } from "./session_loss.ts";
import { answerOfResult, metaOf } from "./tool_result.ts";

interface McpServerOptions {
  readonly slug: string;
  readonly config: McpServerConfig;
  readonly credential: Credential | null;
  /** The Vault secrets in the config's headers and query. */
  readonly extraSecrets: readonly Credential[];
  /** Timeout for listing the tools. */
  readonly timeoutMs: number;
  /** The stored state of the connection. */
  readonly state: ConnectionState;
  /** Called when the state must be updated. */
  readonly saveState: (state: ConnectionState) => Promise<void>;
  /** A `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
}

/** The `_meta` key that requests log messages in the stateless protocol. */
const LOG_LEVEL_KEY = "io.modelcontextprotocol/logLevel";
const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
/** A longer text is not a version. */
const MAX_VERSION_CHARACTERS = 100;

/**
 * An external MCP server over Streamable HTTP, with either version of the protocol. A known server
 * needs one request per call; if it lost its session, the client initializes again, once.
 */
export function openMcpServer(options: McpServerOptions): ToolServer {
  return {
    listTools: (signal) => listTools(options, signal),
    callTool: (call, signal) => callTool(options, call, signal),
    relay: (request, signal) => relay(options, request, signal),
  };
}

/** A server's self-description from the last connection. */
export function mcpFeatures({ discovery, session }: ConnectionState): ServerFeatures {
  const capabilities = asJsonObject(discovery?.capabilities ?? session?.capabilities);
  const instructions = discovery?.instructions ?? session?.instructions;
  const { version } = asJsonObject(
    asJsonObject(discovery?._meta)[SERVER_INFO_KEY] ?? session?.serverInfo,
  );
  return {
    hasResources: capabilities.resources !== undefined,
    hasPrompts: capabilities.prompts !== undefined,
    hasCompletions: capabilities.completions !== undefined,
    hasLogging: capabilities.logging !== undefined,
    instructions: typeof instructions === "string" ? instructions : null,
    version: typeof version === "string" ? version.slice(0, MAX_VERSION_CHARACTERS) : null,
  };
}

async function listTools(options: McpServerOptions, signal: AbortSignal): Promise<ToolListing> {
  const { timeoutMs, state } = options;
  // A server of the earlier protocol is negotiated again, because it may have been upgraded.
  const known = state.discovery === null ? UNKNOWN_CONNECTION : state;
  const limits = LISTING_LIMITS;
  return await ask(
    { options, timeoutMs, state: known, inputCapabilities: {}, logs: null, limits },
    signal,
    ({ client }, request) => listMcpTools(client, request),
    { timeout: "list its tools", errorOf: errorOfListing },
  );
}

/** A list that is too large is the server's failure, like any other unusable list. */
function errorOfListing(failure: Parameters<typeof errorOfFailure>[0]): SwarmError {
  const error = errorOfFailure(failure);
  if (error.code !== "OUTPUT_TOO_LARGE") return error;
  return new SwarmError("TOOL_UNAVAILABLE", `Cannot list the tools: ${error.message}`, {
    hint: "Register a server with fewer tools.",
    cause: error,
  });
}

async function relay(
  options: McpServerOptions,
  { method, params, input, timeoutMs }: ServerRelay,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { capabilities: inputCapabilities } = input;
  const asked = { ...params, ...answersOf(input) } as Record<string, unknown>;
  const result = await ask(
    { options, timeoutMs, state: options.state, inputCapabilities, logs: null },
    signal,
    ({ client }, request) =>
      client.request({ method, params: asked }, jsonObject, {
        ...request,
        ...askableOptions(input),
      }),
    { timeout: `answer ${method}`, errorOf: errorOfRelay },
  );
  if (!isNestedTooDeep(result)) return result;
  throw new SwarmError("OUTPUT_TOO_LARGE", `The answer of '${options.slug}' is nested too deeply`);
}

/** How a client is connected for one operation. */
interface Connecting {
  readonly options: McpServerOptions;
  readonly timeoutMs: number;
  readonly state: ConnectionState;
  readonly inputCapabilities: JsonObject;
  readonly logs: ToolLogSink | null;
  /** Limits of the server's responses if they are not tool results. */
  readonly limits?: JsonLimits;
}

/** Options of the SDK's requests. */
interface RequestSettings {
  readonly signal: AbortSignal;
  readonly timeout: number;
}

/** Sends a repeatable request, so that every failure is a plain error. */
async function ask<T>(
  connecting: Connecting,
  signal: AbortSignal,
  use: (connected: ConnectedClient, request: RequestSettings) => Promise<T>,
  wording: { readonly timeout: string; readonly errorOf: typeof errorOfFailure },
): Promise<T> {
  const { options: { slug, credential }, timeoutMs } = connecting;
  const trace = emptyTrace();
  try {
    const timed = await withDeadline(
      timeoutMs,
      signal,
      (deadline) =>
        withClient({ ...connecting, trace, signal: deadline }, (connected) =>
          use(connected, {
            signal: AbortSignal.any([deadline, connected.cut]),
            timeout: timeoutMs,
          }), { isRepeatable: true, beforeRetry: () => {} }),
    );
    if (timed.kind === "done") return timed.value;
  } catch (error) {
    if (signal.aborted || error instanceof SwarmError) throw error;
    throw wording.errorOf({ server: slug, credential, error, trace });
  }
  throw new SwarmError(
    "TOOL_TIMEOUT",
    `The tool server '${slug}' did not ${wording.timeout} within ${timeoutMs} ms`,
    { hint: "Try again later, or raise timeout_ms in the tool's config." },
  );
}

async function callTool(
  options: McpServerOptions,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { slug, credential, state } = options;
  const { timeoutMs, logs, input: { capabilities: inputCapabilities } } = call;
  const trace = emptyTrace();
  let isSent = false;
  try {
    const timed = await withDeadline(
      timeoutMs,
      signal,
      (deadline) =>
        withClient(
          {
            options: withTrace(options, call),
            timeoutMs,
            state,
            inputCapabilities,
            logs,
            trace,
            signal: deadline,
          },
          (connected) => {
            isSent = true;
            return send(connected, call, deadline);
          },
          {
            isRepeatable: isRepeatable(call.definition),
            beforeRetry: () => isSent = false,
          },
        ),
    );
    if (timed.kind === "done") return timed.value;
  } catch (error) {
    if (error instanceof SessionLostResult) return error.answer;
    if (signal.aborted || error instanceof SwarmError) throw error;
    const failure = { server: slug, credential, error, trace };
    if (!isSent) throw errorOfFailure(failure);
    return answerOfFailure({ ...failure, isRetry: call.input.state !== null });
  }
  const message = `The tool server '${slug}' did not respond within ${timeoutMs} ms`;
  if (isSent) return { kind: "lost", cause: "timeout", message };
  throw new SwarmError("TOOL_TIMEOUT", message, { hint: "Try again later." });
}

const askingSchema = z.looseObject({
  resultType: z.literal("input_required"),
  inputRequests: jsonObject.default({}),
  requestState: z.string().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
});

async function send(
  { client, cut, isResumed }: ConnectedClient,
  call: ServerCall,
  deadline: AbortSignal,
): Promise<ServerAnswer> {
  const { onProgress, input } = call;
  const result: unknown = await client.callTool(toParams(call), {
    signal: AbortSignal.any([deadline, cut]),
    timeout: call.timeoutMs,
    toolDefinition: headerDefinition(call.definition),
    ...askableOptions(input),
    ...(onProgress === null ? {} : {
      onprogress: ({ progress, total, message }) =>
        onProgress({
          done: progress,
          ...definedOnly({ total, message }),
        }),
    }),
  });
  const asking = askingSchema.safeParse(result);
  if (!asking.success) {
    const answer = answerOfResult(result as CallToolResult);
    if (isResumed && answer.isError && saysSessionIsLost(answer.text)) {
      throw new SessionLostResult(answer);
    }
    return answer;
  }
  const { inputRequests, requestState, _meta } = asking.data;
  return {
    kind: "input_required",
    inputRequests,
    ...definedOnly({ requestState }),
    ...metaOf(_meta),
  };
}

interface Retrying {
  /** A second run cannot do harm, whatever the first did. */
  readonly isRepeatable: boolean;
  readonly beforeRetry: () => void;
}

interface ClientWork extends Connecting {
  readonly trace: RequestTrace;
  readonly signal: AbortSignal;
}

/**
 * Runs `use` with a connected client; once more if the server rejects the stored state. Where the
 * first run may have had an effect, only the next operation begins anew.
 */
async function withClient<T>(
  work: ClientWork,
  use: (connected: ConnectedClient) => Promise<T>,
  { isRepeatable, beforeRetry }: Retrying,
): Promise<T> {
  try {
    return await useClient(work, use);
  } catch (error) {
    const isRemembered = work.state.discovery !== null || work.state.session !== null;
    if (!isRemembered || work.signal.aborted || asksMoreOf(error)) throw error;
    const loss = sessionLossOf(error, work.trace);
    if (loss === "none") throw error;
    if (loss === "perhaps" && !isRepeatable) {
      await work.options.saveState(UNKNOWN_CONNECTION);
      throw error;
    }
    beforeRetry();
    return await useClient({ ...work, state: UNKNOWN_CONNECTION }, use);
  }
}

async function useClient<T>(
  { options, trace, state, signal, timeoutMs, inputCapabilities, logs, limits }: ClientWork,
  use: (connected: ConnectedClient) => Promise<T>,
): Promise<T> {
  const { config, credential, extraSecrets } = options;
  const send = createMcpFetch({
    headers: plainValues(config.headers),
    query: plainValues(config.query),
    secrets: credential === null ? extraSecrets : [...extraSecrets, credential],
    fetch: options.fetch,
    ...definedOnly({ limits }),
  }, trace);
  const url = new URL(config.mcp_url);
  const target = { url, fetch: send, timeoutMs, inputCapabilities, logs };
  const connected = await connectMcpClient(target, state, signal);
  try {
    if (!connected.isResumed) await options.saveState(connected.state);
    return await use(connected);
  } finally {
    await connected.client.close();
  }
}

/** The protocol's `_meta` is for the server, the header for proxies in between. */
function withTrace({ config, ...options }: McpServerOptions, call: ServerCall): McpServerOptions {
  const headers = { ...config.headers, ...toTraceHeaders(call) };
  return { ...options, config: { ...config, headers } };
}

function toParams(call: ServerCall) {
  const { definition, arguments: args, idempotencyKey, input, logs } = call;
  return {
    name: definition.name,
    arguments: args as Record<string, unknown>,
    ...answersOf(input),
    _meta: {
      [`${META_PREFIX}idempotency_key`]: idempotencyKey,
      ...(logs === null ? {} : { [LOG_LEVEL_KEY]: logs.level }),
      ...toTraceHeaders(call),
    },
  };
}

/** The caller's answers to an earlier `input_required`. */
function answersOf({ responses, state }: CallInput) {
  return {
    ...(responses === null
      ? {}
      : { inputResponses: responses as Record<string, Record<string, unknown>> }),
    ...(state === null ? {} : { requestState: state }),
  };
}

function askableOptions({ capabilities }: CallInput) {
  return Object.keys(capabilities).length === 0 ? {} : { allowInputRequired: true as const };
}

/**
 * Lets the SDK mirror arguments into headers if the schema requires it; output is not validated.
 */
function headerDefinition({ name, inputSchema }: ToolDefinition): Tool {
  return { name, inputSchema: inputSchema as Tool["inputSchema"] };
}
