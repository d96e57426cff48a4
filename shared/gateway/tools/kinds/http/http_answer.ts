import type { Bytes } from "../../../../platform/values/bytes.ts";
import { Buffer } from "node:buffer";
import type { ContentBlock } from "../../../../platform/values/content_block.ts";
import { contentText } from "../../../../platform/values/content_text.ts";
import { definedOnly } from "../../../../platform/values/defined_only.ts";
import { SwarmError, type SwarmErrorOptions } from "../../../../platform/errors/swarm_error.ts";
import { parseRetryAfter } from "../../../../platform/net/retry_after.ts";
import type { JsonValue } from "../../../../platform/values/json.ts";
import { readBytes } from "../../../../platform/net/read_bytes.ts";
import { readText } from "../../../../platform/net/read_text.ts";
import { type Credential, refusedCredential } from "../../../tool_contracts/credential.ts";
import type { ServerAnswer } from "../../../tool_contracts/tool_server.ts";
import { exactStructure } from "../../../tool_contracts/exact_structure.ts";

/** Maximum bytes read of a response; a note reports truncation. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
/** Maximum bytes of a binary response; in base64, it then has the maximum size of an answer. */
const MAX_FILE_BYTES = 3.75 * 1024 * 1024;
const TEXT_TYPES = /^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript|x-ndjson|yaml))/;

/**
 * Converts an HTTP API's response to a tool's answer.
 *
 * @throws SwarmError `TOOL_AUTH_FAILED` (401, 403), `TOOL_RATE_LIMITED` (429) or `TOOL_UNAVAILABLE`
 * (503 with `Retry-After`); the last two with `retryAfterSeconds`.
 */
export async function readHttpAnswer(
  response: Response,
  from: { readonly server: string; readonly credential: Credential | null },
): Promise<ServerAnswer> {
  const { status } = response;
  if (status === 401 || status === 403) {
    await response.body?.cancel();
    throw refusedCredential(from.server, status, from.credential);
  }
  if (status === 429) {
    await response.body?.cancel();
    throw rateLimited(from.server, response.headers);
  }
  if (status === 503 && response.headers.has("retry-after")) {
    await response.body?.cancel();
    throw temporarilyUnavailable(from.server, response.headers);
  }
  const body = await readBody(response);
  if (response.ok) return { kind: "answered", isError: false, ...body };
  if (status === 502 || status === 504) {
    // A proxy's timeout: the call may have reached the server.
    const message = `The tool server '${from.server}' did not respond (HTTP ${status})`;
    return { kind: "lost", cause: "connection", message };
  }
  const text = `HTTP ${status} from '${from.server}'${body.text === "" ? "" : `: ${body.text}`}`;
  const errorCode = status === 503 || status === 408 ? "TOOL_UNAVAILABLE" : "TOOL_FAILED";
  const { structured } = body;
  return { kind: "answered", text, ...definedOnly({ structured }), isError: true, errorCode };
}

/** Creates the error for a server that limits its calls. */
export function rateLimited(server: string, headers: Headers): SwarmError {
  const problem = `The tool server '${server}' is rate limited`;
  return new SwarmError("TOOL_RATE_LIMITED", problem, askedWait(headers));
}

/** Creates the error for a server that reports when it will be available again. */
export function temporarilyUnavailable(server: string, headers: Headers): SwarmError {
  const problem = `The tool server '${server}' is temporarily unavailable`;
  return new SwarmError("TOOL_UNAVAILABLE", problem, askedWait(headers));
}

function askedWait(headers: Headers): SwarmErrorOptions {
  const retryAfterSeconds = parseRetryAfter(headers, Date.now());
  if (retryAfterSeconds === undefined) return { hint: "Try again later." };
  return { hint: `Try again in ${Math.ceil(retryAfterSeconds)} seconds.`, retryAfterSeconds };
}

interface ReadBody {
  readonly text: string;
  readonly content?: readonly ContentBlock[];
  readonly structured?: JsonValue;
}

async function readBody(response: Response): Promise<ReadBody> {
  const type = response.headers.get("content-type")?.toLowerCase() ?? "text/plain";
  if (!TEXT_TYPES.test(type)) return await readFile(response, type);
  const { text, isCut } = await readText(response, MAX_RESPONSE_BYTES);
  if (isCut) {
    return { text: `${text}\n(cut: only the first ${MAX_RESPONSE_BYTES} bytes are shown)` };
  }
  return { text, ...(type.includes("json") ? exactStructure(text) : {}) };
}

/**
 * A binary response becomes a block of the answer. It is never truncated, because half a file is
 * useless.
 */
async function readFile(response: Response, type: string): Promise<ReadBody> {
  if (!response.ok) {
    await response.body?.cancel();
    return { text: `(a body of type ${type}, not shown)` };
  }
  const bytes = await readBytes(response, MAX_FILE_BYTES);
  if (bytes === null) {
    return { text: `(more than ${MAX_FILE_BYTES} bytes of ${type}, not shown)` };
  }
  if (bytes.byteLength === 0) return { text: "" };
  const content = [fileBlock(bytes, type.split(";", 1)[0]?.trim() ?? type)];
  return { text: contentText(content), content };
}

function fileBlock(bytes: Bytes, mimeType: string): ContentBlock {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  if (mimeType.startsWith("image/")) return { type: "image", data, mimeType };
  if (mimeType.startsWith("audio/")) return { type: "audio", data, mimeType };
  // The URL is omitted, because it may contain a secret and does not describe the file.
  return { type: "resource", resource: { uri: "response:body", mimeType, blob: data } };
}
