import { definedOnly } from "../../../../platform/values/defined_only.ts";
import type { JsonObject, JsonValue } from "../../../../platform/values/json.ts";
import { lazily } from "../../../../platform/values/lazily.ts";
import type { ToolLogSink } from "../../../tool_contracts/tool_call.ts";
import type {
  Client,
  ClientCapabilities,
  DiscoverResult,
  JSONRPCMessage,
  PriorDiscovery,
  StreamableHTTPClientTransport,
  Transport,
} from "../../../../vendor/mcp_client.js";
import type { ConnectionState } from "../../../tool_contracts/connection_state.ts";
import type { McpFetch } from "./mcp_fetch.ts";
import { NO_SESSION } from "./no_session.ts";

/** Imported on first use: most endpoints call no external server. */
const loadSdk = lazily(() => import("../../../../vendor/mcp_client.js"));

/** A client that is connected and can call. */
export interface ConnectedClient {
  readonly client: Client;
  readonly state: ConnectionState;
  /** It relies on the state of an earlier connection, which may have expired at the server. */
  readonly isResumed: boolean;
  /** Aborted when a response stream ended without an answer. */
  readonly cut: AbortSignal;
}

/** How a client reaches its server. */
export interface McpClientOptions {
  readonly url: URL;
  readonly fetch: McpFetch;
  readonly timeoutMs: number;
  /** The input that the server may request; see `input_required`. */
  readonly inputCapabilities: JsonObject;
  /** Receives the server's log messages while the client is connected. */
  readonly logs: ToolLogSink | null;
}

/** Maximum time for a response's last event to get from the stream to the caller. */
const STREAM_END_GRACE_MS = 50;

/** A broken stream is a lost answer; the caller decides whether to retry. */
const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/**
 * Connects to a server: without a request if `state` allows it, otherwise by negotiating the
 * protocol.
 */
export async function connectMcpClient(
  options: McpClientOptions,
  state: ConnectionState,
  signal: AbortSignal,
): Promise<ConnectedClient> {
  const sdk = await loadSdk();
  const client = new sdk.Client({ name: "supaswarm", version: "1.0.0" }, {
    versionNegotiation: { mode: "auto" },
    inputRequired: { autoFulfill: false },
    capabilities: options.inputCapabilities as ClientCapabilities,
  });
  if (options.logs !== null) tellLogs(client, options.logs);
  const transport = new sdk.StreamableHTTPClientTransport(options.url, {
    fetch: options.fetch,
    reconnectionOptions: NO_RECONNECTION,
    ...resumedSession(state),
  });
  const prior = priorOf(state);
  const connectOptions = { signal, timeout: options.timeoutMs };
  await client.connect(transport, prior === null ? connectOptions : { ...connectOptions, prior });
  const cut = watchRequests(transport);
  const isResumed = prior !== null;
  return {
    client,
    isResumed,
    cut,
    state: isResumed ? state : negotiatedState(client, transport),
  };
}

function tellLogs(client: Client, logs: ToolLogSink): void {
  client.setNotificationHandler("notifications/message", ({ params }) => {
    const { level, data, logger } = params;
    logs.write({
      level,
      data: (data ?? null) as JsonValue,
      ...definedOnly({ logger }),
    });
  });
}

function resumedSession({ session, protocol }: ConnectionState) {
  if (session === null || protocol === null) return {};
  return { sessionId: session.id ?? NO_SESSION, protocolVersion: protocol };
}

function priorOf(state: ConnectionState): PriorDiscovery | null {
  // The SDK validates the earlier discovery.
  const discover = state.discovery as unknown as DiscoverResult | null;
  if (discover !== null) return { kind: "modern", discover };
  return state.session === null ? null : { kind: "legacy" };
}

function negotiatedState(
  client: Client,
  transport: StreamableHTTPClientTransport,
): ConnectionState {
  const discovery = client.getDiscoverResult() as unknown as JsonObject | undefined;
  const protocol = client.getNegotiatedProtocolVersion() ?? null;
  if (discovery !== undefined) return { protocol, discovery, session: null };
  const capabilities = client.getServerCapabilities() as unknown as JsonObject | undefined;
  const instructions = client.getInstructions();
  const serverInfo = client.getServerVersion() as unknown as JsonObject | undefined;
  return {
    protocol,
    discovery: null,
    session: {
      id: transport.sessionId ?? null,
      ...definedOnly({ capabilities, instructions, serverInfo }),
    },
  };
}

/** Ids are JSON numbers; this leaves room for all requests of a client. */
const MAX_FIRST_ID = 2 ** 48;

/**
 * Watches all requests from now on; those of the handshake have been answered.
 *
 * The SDK's ids start at 0 for each client. A session, or a call that continues after
 * `input_required`, outlives a client, and the protocol forbids reusing an id, so ids on the wire
 * start at a random number. If a stream ends without an answer, the SDK would wait for its timeout;
 * the signal reports this immediately.
 */
function watchRequests(transport: StreamableHTTPClientTransport): AbortSignal {
  const cut = new AbortController();
  const answered = new Set<string | number>();
  const firstId = Math.floor(Math.random() * MAX_FIRST_ID);
  const port: Transport = transport;
  const deliver = port.onmessage;
  port.onmessage = (message, extra) => {
    if ("method" in message || typeof message.id !== "number") return deliver?.(message, extra);
    const id = message.id - firstId;
    answered.add(id);
    deliver?.({ ...message, id }, extra);
  };
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (Array.isArray(message)) return send(message, options);
    if (!("id" in message) || !("method" in message) || typeof message.id !== "number") {
      return send(withCancelledId(message, firstId), options);
    }
    const { id } = message;
    const onRequestStreamEnd = () => {
      setTimeout(() => {
        if (!answered.has(id)) cut.abort(new Error("The stream ended without an answer"));
      }, STREAM_END_GRACE_MS);
    };
    return send({ ...message, id: id + firstId }, { ...options, onRequestStreamEnd });
  };
  return cut.signal;
}

function withCancelledId(message: JSONRPCMessage, firstId: number): JSONRPCMessage {
  if (!("method" in message) || message.method !== "notifications/cancelled") return message;
  const requestId = message.params?.requestId;
  if (typeof requestId !== "number") return message;
  return { ...message, params: { ...message.params, requestId: requestId + firstId } };
}
