import { definedOnly } from "../../../defined_only.ts";
import type { JsonObject, JsonValue } from "../../../json.ts";
import { lazily } from "../../../lazily.ts";
import type { ToolLogSink } from "../../../tool_contracts/tool_call.ts";
import type {
  Client,
  ClientCapabilities,
  DiscoverResult,
  JSONRPCMessage,
  PriorDiscovery,
  StreamableHTTPClientTransport,
  Transport,
} from "../../../vendor/mcp_client.js";
import type { ConnectionState } from "../../../tool_contracts/connection_state.ts";
import type { McpFetch } from "./mcp_fetch.ts";
import { NO_SESSION } from "./no_session.ts";

/** Imported when first needed: most endpoints call no server of somebody else's. */
const loadSdk = lazily(() => import("../../../vendor/mcp_client.js"));

/** A client that is connected and can call. */
export interface ConnectedClient {
  readonly client: Client;
  readonly state: ConnectionState;
  /** It relies on what an earlier connection remembered, which the server may have forgotten. */
  readonly isResumed: boolean;
  /** Aborted when the stream of an answer ended without one. */
  readonly cut: AbortSignal;
}

/** How a client reaches its server. */
export interface McpClientOptions {
  readonly url: URL;
  readonly fetch: McpFetch;
  readonly timeoutMs: number;
  /** What the server may ask back; see `input_required`. */
  readonly inputCapabilities: JsonObject;
  /** Told what the server logs while the client is connected. */
  readonly logs: ToolLogSink | null;
}

/** How long an answer's last event may take from the stream to the caller. */
const STREAM_END_GRACE_MS = 50;

/** A stream that broke is a lost answer; whether to ask again is for the caller to say. */
const NO_RECONNECTION = {
  maxRetries: 0,
  initialReconnectionDelay: 0,
  maxReconnectionDelay: 0,
  reconnectionDelayGrowFactor: 1,
};

/**
 * Connects to a server: without any request where `state` allows it, by asking which protocol it
 * speaks where nothing is known.
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
  // The SDK checks what it is given as an earlier discovery.
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

/** Ids are JSON numbers; this leaves room for all the requests that a client will ever send. */
const MAX_FIRST_ID = 2 ** 48;

/**
 * Looks after the requests from now on; what the handshake sent has been answered.
 *
 * The SDK's ids begin at 0 with each client. A session, and a call that goes on with the answers to
 * `input_required`, last longer than one, and the protocol forbids to use an id twice: on the wire
 * they begin at a random place instead. And the SDK waits for its timeout when a stream ends without
 * an answer, which the signal tells at once.
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
