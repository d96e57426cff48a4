import { openMcpServer } from "../../../shared/gateway/tools/kinds/mcp/mcp_server.ts";
import {
  type ConnectionState,
  UNKNOWN_CONNECTION,
} from "../../../shared/gateway/tool_contracts/connection_state.ts";
import type { ToolDefinition } from "../../../shared/gateway/tool_contracts/tool_definition.ts";
import type {
  ServerAnswer,
  ToolServer,
} from "../../../shared/gateway/tool_contracts/tool_server.ts";
import type { JsonObject, JsonValue } from "../../../shared/platform/values/json.ts";

/** The protocol's versions, which the SDK reads with different schemas. */
export const ERAS = ["stateless", "session"] as const;
/** One of {@linkcode ERAS}. */
export type Era = (typeof ERAS)[number];

/** A request that reached the peer. */
export interface PeerRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly sessionId: string | null;
}

/** What the peer answers; undefined for what a well-behaved server answers. */
export type Answering = (request: PeerRequest) => Response | undefined;

/** A server that answers as a test says, as the gateway reaches it, without a network. */
export interface Peer {
  readonly server: ToolServer;
  readonly seen: PeerRequest[];
  readonly saved: ConnectionState[];
}

const STATES: Readonly<Record<Era, ConnectionState>> = {
  stateless: {
    protocol: "2026-07-28",
    discovery: {
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      ttlMs: 0,
      cacheScope: "private",
    },
    session: null,
  },
  session: {
    protocol: "2025-11-25",
    discovery: null,
    session: { id: "first-session", capabilities: { tools: {} } },
  },
};

/** Opens a peer to which the gateway was connected before, unless it is unknown. */
export function openPeer(
  era: Era,
  answering: Answering,
  connection: "known" | "unknown" = "known",
  network?: typeof fetch,
): Peer {
  const seen: PeerRequest[] = [];
  const saved: ConnectionState[] = [];
  const server = openMcpServer({
    slug: "peer",
    config: { mcp_url: "https://peer.example/mcp" } as Parameters<
      typeof openMcpServer
    >[0]["config"],
    credential: null,
    extraSecrets: [],
    timeoutMs: 20_000,
    state: connection === "known" ? STATES[era] : UNKNOWN_CONNECTION,
    saveState: (state) => Promise.resolve(void saved.push(state)),
    fetch: network ?? ((_, init) => {
      const message = JSON.parse(String(init?.body));
      const sessionId = new Headers(init?.headers).get("mcp-session-id");
      const request = { ...message, params: message.params ?? {}, sessionId };
      if (message.id === undefined) return Promise.resolve(new Response(null, { status: 202 }));
      seen.push(request);
      return Promise.resolve(answering(request) ?? wellBehaved(era, request));
    }),
  });
  return { server, seen, saved };
}

function wellBehaved(era: Era, { id, method }: PeerRequest): Response {
  if (method === "initialize") {
    const headers = { "mcp-session-id": "next-session" };
    const result = {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "peer", version: "1" },
    };
    return Response.json({ jsonrpc: "2.0", id, result }, { headers });
  }
  if (method === "server/discover") {
    if (era === "stateless") return respond({ id }, { ...STATES.stateless.discovery });
    const error = { code: -32601, message: "Method not found" };
    return Response.json({ jsonrpc: "2.0", id, error }, { status: 400 });
  }
  return respond({ id }, { content: [{ type: "text", text: "well" }], tools: [] });
}

/** The response with a result. */
export function respond({ id }: Pick<PeerRequest, "id">, result: JsonValue): Response {
  return Response.json({ jsonrpc: "2.0", id, result });
}

/** Calls the peer's tool, which writes unless its hints say otherwise. */
export async function callPeer(
  { server }: Peer,
  annotations: ToolDefinition["annotations"] = {},
): Promise<ServerAnswer> {
  return await server.callTool({
    definition: { name: "tool", inputSchema: { type: "object" }, annotations },
    arguments: {},
    caller: {} as Parameters<ToolServer["callTool"]>[0]["caller"],
    executionId: "execution",
    stepSeq: null,
    idempotencyKey: "key",
    traceparent: null,
    tracestate: null,
    timeoutMs: 20_000,
    onProgress: null,
    onText: null,
    logs: null,
    input: { capabilities: {}, responses: null, state: null },
    approval: {} as Parameters<ToolServer["callTool"]>[0]["approval"],
    onModelUse: () => {},
    grantedScopes: null,
    onUnrecordedValue: () => {},
  }, new AbortController().signal);
}
