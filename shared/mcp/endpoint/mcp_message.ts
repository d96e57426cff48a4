import { SwarmError } from "../../errors/swarm_error.ts";
import { readBody } from "../../http/read_body.ts";
import { asJsonObject, type JsonObject, type JsonValue } from "../../json.ts";
import { isNestedTooDeep } from "../../json_depth.ts";
import { toStorableJson } from "../../storable_json.ts";

/** Largest message that is read. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";

/** A JSON-RPC message as far as it matters before the SDK reads it. */
export interface McpMessage {
  /** Its body is read already, and stands there again only where {@linkcode body} is undefined. */
  readonly request: Request;
  /** Undefined when the body is no JSON; what to say about that is the SDK's to know. */
  readonly body: JsonValue | undefined;
  /** Methods that the body calls: one, or several in a batch of the earlier protocol. */
  readonly methods: readonly string[];
  /** Names in the body's tool calls. Never the `Mcp-Name` header: it is the caller's claim. */
  readonly toolNames: readonly string[];
  /** What the calling program says it is, where the message tells. */
  readonly clientName: string | null;
}

/**
 * Reads a message. Characters that Postgres cannot hold become U+FFFD.
 *
 * @throws BODY_INVALID when it is too large or nested too deep.
 */
export async function readMessage(request: Request): Promise<McpMessage> {
  const text = new TextDecoder().decode(await readBody(request, MAX_MESSAGE_BYTES));
  const body = parse(text);
  const calls = (Array.isArray(body) ? body : [body]).map((item: JsonValue) => asJsonObject(item));
  return {
    request: body === undefined ? new Request(request, { body: text }) : request,
    body,
    methods: calls.flatMap(({ method }) => typeof method === "string" ? [method] : []),
    toolNames: calls.flatMap(toolNameOf),
    clientName: calls.map(clientNameOf).find((name) => name !== null) ?? null,
  };
}

function parse(text: string): JsonValue | undefined {
  let body: JsonValue;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isNestedTooDeep(body)) return toStorableJson(body);
  throw new SwarmError("BODY_INVALID", "Cannot read the message: it is nested too deep", {
    hint: "Send flatter arguments.",
  });
}

function toolNameOf({ method, params }: JsonObject): string[] {
  const { name } = asJsonObject(params);
  return method === "tools/call" && typeof name === "string" ? [name] : [];
}

/** Of the message's own envelope, or of the handshake. */
function clientNameOf({ params }: JsonObject): string | null {
  const { _meta, clientInfo } = asJsonObject(params);
  const { name } = asJsonObject(asJsonObject(_meta)[CLIENT_INFO_KEY] ?? clientInfo);
  return typeof name === "string" ? name.slice(0, 200) : null;
}
