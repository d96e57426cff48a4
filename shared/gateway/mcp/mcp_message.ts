import type { ErrorCode } from "../../platform/errors/codes.ts";
import { assertWithoutNul, bodyTooLarge } from "../../platform/http/parse_body.ts";
import { readBody } from "../../platform/http/read_body.ts";
import { asJsonObject, type JsonObject, type JsonValue } from "../../platform/values/json.ts";
import { MESSAGE_LIMITS } from "../../platform/json/json_limits.ts";
import { parseJson } from "../../platform/json/parse_json.ts";
import { toStorableJson } from "../../platform/values/storable_json.ts";

const CLIENT_INFO_KEY = "io.modelcontextprotocol/clientInfo";

/** The parts of a JSON-RPC message that are needed before the SDK reads it. */
export interface McpMessage {
  /** Its body is already consumed, and available again only if {@linkcode body} is undefined. */
  readonly request: Request;
  /** Undefined if the body is not JSON; the SDK then creates the error. */
  readonly body: JsonValue | undefined;
  /** Methods that the body calls: one, or several in a batch of the earlier protocol. */
  readonly methods: readonly string[];
  /** Names in the body's tool calls. Never the `Mcp-Name` header: it is the caller's claim. */
  readonly toolNames: readonly string[];
  /** The calling program's name, if the message has it. */
  readonly clientName: string | null;
}

/**
 * Reads a message. Unpaired surrogates become U+FFFD.
 *
 * @throws BODY_INVALID if it exceeds a limit, named in `details.limit`, or contains U+0000;
 * TOOL_ARGUMENTS_INVALID if the arguments of a tool contain it.
 */
export async function readMessage(request: Request): Promise<McpMessage> {
  const bytes = await readBody(request, MESSAGE_LIMITS.bytes);
  const body = parse(bytes);
  const calls = (Array.isArray(body) ? body : [body]).map((item: JsonValue) => asJsonObject(item));
  return {
    request: body === undefined ? new Request(request, { body: bytes }) : request,
    body,
    methods: calls.flatMap(({ method }) => typeof method === "string" ? [method] : []),
    toolNames: calls.flatMap(toolNameOf),
    clientName: calls.map(clientNameOf).find((name) => name !== null) ?? null,
  };
}

function parse(bytes: Uint8Array): JsonValue | undefined {
  const parsed = parseJson(bytes, MESSAGE_LIMITS);
  if (parsed.kind === "too_large") throw bodyTooLarge("the message", parsed.excess);
  if (parsed.kind !== "json") return undefined;
  assertWithoutNul(parsed.value, "the message", codeOfNul);
  return toStorableJson(parsed.value);
}

/** In a message, or a list of them. */
function codeOfNul(path: string): ErrorCode {
  return /^(\d+\.)?params\.arguments\b/.test(path) ? "TOOL_ARGUMENTS_INVALID" : "BODY_INVALID";
}

function toolNameOf({ method, params }: JsonObject): string[] {
  const { name } = asJsonObject(params);
  return method === "tools/call" && typeof name === "string" ? [name] : [];
}

/** From the message's own envelope, or from the handshake. */
function clientNameOf({ params }: JsonObject): string | null {
  const { _meta, clientInfo } = asJsonObject(params);
  const { name } = asJsonObject(asJsonObject(_meta)[CLIENT_INFO_KEY] ?? clientInfo);
  return typeof name === "string" ? name.slice(0, 200) : null;
}
