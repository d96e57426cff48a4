import type {
  Client,
  DiscoverResult,
  PriorDiscovery,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { JsonObject } from "../json.ts";
import type { ConnectionState } from "./connection_state.ts";
import type { McpFetch } from "./mcp_fetch.ts";

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
  const sdk = await import("@modelcontextprotocol/client");
  const client = new sdk.Client({ name: "supaswarm", version: "1.0.0" }, {
    versionNegotiation: { mode: "auto" },
    inputRequired: { autoFulfill: false },
  });
  const transport = new sdk.StreamableHTTPClientTransport(options.url, {
    fetch: options.fetch,
    reconnectionOptions: NO_RECONNECTION,
    ...resumedSession(state),
  });
  const cut = cutStreamSignal(transport);
  const prior = priorOf(state);
  const connectOptions = { signal, timeout: options.timeoutMs };
  await client.connect(transport, prior === null ? connectOptions : { ...connectOptions, prior });
  const isResumed = prior !== null;
  return {
    client,
    isResumed,
    cut,
    state: isResumed ? state : negotiatedState(client, transport),
  };
}

function resumedSession({ session, protocol }: ConnectionState) {
  if (session === null || protocol === null) return {};
  return { sessionId: session.id, protocolVersion: protocol };
}

function priorOf(state: ConnectionState): PriorDiscovery | null {
  // The SDK checks what it is given as an earlier discovery.
  const discover = state.discovery as unknown as DiscoverResult | null;
  if (discover !== null) return { kind: "modern", discover };
  return state.session === null ? null : { kind: "legacy" };
}

function negotiatedState(client: Client, transport: StreamableHTTPClientTransport) {
  const discovery = client.getDiscoverResult();
  const sessionId = transport.sessionId;
  return {
    protocol: client.getNegotiatedProtocolVersion() ?? null,
    discovery: (discovery ?? null) as unknown as JsonObject | null,
    session: sessionId === undefined ? null : { id: sessionId },
  };
}

/** The SDK waits for its timeout when a stream ends without an answer; this tells at once. */
function cutStreamSignal(transport: StreamableHTTPClientTransport): AbortSignal {
  const cut = new AbortController();
  const send = transport.send.bind(transport);
  const onRequestStreamEnd = () => {
    setTimeout(
      () => cut.abort(new Error("The stream ended without an answer")),
      STREAM_END_GRACE_MS,
    );
  };
  transport.send = (message, options) => send(message, { ...options, onRequestStreamEnd });
  return cut.signal;
}
