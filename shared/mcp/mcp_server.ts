import type { Tool } from "@modelcontextprotocol/client";
import { SwarmError } from "../errors/swarm_error.ts";
import type { Credential } from "../tools/credential.ts";
import { withDeadline } from "../tools/deadline.ts";
import type { McpServerConfig } from "../tools/tool_config.ts";
import type { ToolDefinition } from "../tools/tool_definition.ts";
import type { ServerAnswer, ServerCall, ToolListing, ToolServer } from "../tools/tool_server.ts";
import { type ConnectionState, UNKNOWN_CONNECTION } from "./connection_state.ts";
import { listMcpTools } from "./list_mcp_tools.ts";
import { type ConnectedClient, connectMcpClient } from "./mcp_client.ts";
import { answerOfFailure, errorOfFailure } from "./mcp_failure.ts";
import { createMcpFetch, emptyTrace, type RequestTrace } from "./mcp_fetch.ts";
import { answerOfResult } from "./tool_result.ts";

/** What a connection to an MCP server is opened with. */
export interface McpServerOptions {
  readonly slug: string;
  readonly config: McpServerConfig;
  readonly credential: Credential | null;
  readonly timeoutMs: number;
  /** What the connection row remembers. */
  readonly state: ConnectionState;
  /** Called when something else has to be remembered. */
  readonly saveState: (state: ConnectionState) => Promise<void>;
  /** Guarded against private addresses. */
  readonly fetch: typeof fetch;
}

/** Statuses with which a server says that it does not know what was remembered of it. */
const FORGOTTEN_STATUSES: ReadonlySet<number> = new Set([400, 404, 405]);

/**
 * An external MCP server over Streamable HTTP, of either era of the protocol. One request a call
 * for a server that is known; a server that forgot its session is greeted anew, once.
 */
export function openMcpServer(options: McpServerOptions): ToolServer {
  const trace = emptyTrace();
  return {
    listTools: (signal) => listTools(options, trace, signal),
    callTool: (call, signal) => callTool(options, trace, call, signal),
  };
}

async function listTools(
  options: McpServerOptions,
  trace: RequestTrace,
  signal: AbortSignal,
): Promise<ToolListing> {
  const { timeoutMs } = options;
  try {
    const timed = await withDeadline(timeoutMs, signal, async (deadline) => {
      // A server of the earlier protocol is asked again what it speaks: it may have been renewed.
      const state = options.state.discovery === null ? UNKNOWN_CONNECTION : options.state;
      const request = { signal: deadline, timeout: timeoutMs };
      return await withClient(
        { options, trace, state, signal: deadline },
        ({ client, cut }) =>
          listMcpTools(client, { ...request, signal: AbortSignal.any([deadline, cut]) }),
      );
    });
    if (timed.kind === "done") return timed.value;
  } catch (error) {
    if (signal.aborted || error instanceof SwarmError) throw error;
    throw errorOfFailure({ server: options.slug, credential: options.credential, error, trace });
  }
  throw new SwarmError(
    "TOOL_TIMEOUT",
    `The tool server '${options.slug}' did not list its tools within ${timeoutMs} ms`,
    { hint: "Try again later, or raise timeout_ms in the tool's config." },
  );
}

async function callTool(
  options: McpServerOptions,
  trace: RequestTrace,
  call: ServerCall,
  signal: AbortSignal,
): Promise<ServerAnswer> {
  const { slug, credential, timeoutMs } = options;
  let isSent = false;
  try {
    const timed = await withDeadline(
      timeoutMs,
      signal,
      (deadline) =>
        withClient(
          { options, trace, state: options.state, signal: deadline },
          async (connected) => {
            isSent = true;
            const request = {
              signal: AbortSignal.any([deadline, connected.cut]),
              timeout: timeoutMs,
              toolDefinition: headerDefinition(call.definition),
            };
            return answerOfResult(await connected.client.callTool(toParams(call), request));
          },
          () => isSent = false,
        ),
    );
    if (timed.kind === "done") return timed.value;
  } catch (error) {
    if (signal.aborted || error instanceof SwarmError) throw error;
    const failure = { server: slug, credential, error, trace };
    if (!isSent) throw errorOfFailure(failure);
    return answerOfFailure(failure);
  }
  const message = `The tool server '${slug}' gave no answer within ${timeoutMs} ms`;
  if (isSent) return { kind: "lost", cause: "timeout", message };
  throw new SwarmError("TOOL_TIMEOUT", message, { hint: "Try again later." });
}

interface ClientWork {
  readonly options: McpServerOptions;
  readonly trace: RequestTrace;
  readonly state: ConnectionState;
  readonly signal: AbortSignal;
}

/** Runs `use` with a connected client; anew, once, when the server forgot what was remembered. */
async function withClient<T>(
  work: ClientWork,
  use: (connected: ConnectedClient) => Promise<T>,
  beforeRetry: () => void = () => {},
): Promise<T> {
  try {
    return await useClient(work, use);
  } catch (error) {
    const isRemembered = work.state.discovery !== null || work.state.session !== null;
    const isForgotten = FORGOTTEN_STATUSES.has(work.trace.status ?? 0);
    if (!isRemembered || !isForgotten || work.signal.aborted) throw error;
    beforeRetry();
    return await useClient({ ...work, state: UNKNOWN_CONNECTION }, use);
  }
}

async function useClient<T>(
  { options, trace, state, signal }: ClientWork,
  use: (connected: ConnectedClient) => Promise<T>,
): Promise<T> {
  const { config, credential, timeoutMs } = options;
  const send = createMcpFetch(
    { headers: config.headers ?? {}, credential, fetch: options.fetch },
    trace,
  );
  const target = { url: new URL(config.mcp_url), fetch: send, timeoutMs };
  const connected = await connectMcpClient(target, state, signal);
  try {
    if (!connected.isResumed) await options.saveState(connected.state);
    return await use(connected);
  } finally {
    await connected.client.close();
  }
}

function toParams({ definition, arguments: args, idempotencyKey, traceparent }: ServerCall) {
  return {
    name: definition.name,
    arguments: args as Record<string, unknown>,
    _meta: {
      "supaswarm/idempotencyKey": idempotencyKey,
      ...(traceparent === null ? {} : { traceparent }),
    },
  };
}

/** Lets the SDK mirror arguments into headers where the schema asks for it; output is not checked. */
function headerDefinition({ name, inputSchema }: ToolDefinition): Tool {
  return { name, inputSchema: inputSchema as Tool["inputSchema"] };
}
