import { SwarmError, type SwarmErrorOptions } from "../../../errors/swarm_error.ts";
import { parseRetryAfter } from "../../../net/retry_after.ts";
import type { JsonValue } from "../../../json.ts";
import { ANSWER_LIMITS } from "../../../json/json_limits.ts";
import { parseJsonOrUndefined } from "../../../json/parse_json.ts";
import { readText } from "../../../net/read_text.ts";
import { type Credential, refusedCredential } from "../../../tool_contracts/credential.ts";
import type { ServerAnswer } from "../../../tool_contracts/tool_server.ts";

/** Most of a response that is read; what is beyond is cut and said to be. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const TEXT_TYPES = /^(text\/|application\/([\w.+-]*\+)?(json|xml|javascript|x-ndjson|yaml))/;

/**
 * Reads an HTTP API's response as a tool's answer.
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
    // A proxy gave up on the server: the call may have reached it.
    const message = `The tool server '${from.server}' gave no answer (HTTP ${status})`;
    return { kind: "lost", cause: "connection", message };
  }
  const text = `HTTP ${status} from '${from.server}'${body.text === "" ? "" : `: ${body.text}`}`;
  const errorCode = status === 503 || status === 408 ? "TOOL_UNAVAILABLE" : "TOOL_FAILED";
  return { kind: "answered", ...body, text, isError: true, errorCode };
}

/** The error for a server that asks to be called less often. */
export function rateLimited(server: string, headers: Headers): SwarmError {
  const problem = `The tool server '${server}' is rate limited`;
  return new SwarmError("TOOL_RATE_LIMITED", problem, askedWait(headers));
}

/** The error for a server that says when it will be there again. */
export function temporarilyUnavailable(server: string, headers: Headers): SwarmError {
  const problem = `The tool server '${server}' is down for a while`;
  return new SwarmError("TOOL_UNAVAILABLE", problem, askedWait(headers));
}

function askedWait(headers: Headers): SwarmErrorOptions {
  const retryAfterSeconds = parseRetryAfter(headers, Date.now());
  if (retryAfterSeconds === undefined) return { hint: "Try again later." };
  return { hint: `Try again in ${Math.ceil(retryAfterSeconds)} seconds.`, retryAfterSeconds };
}

async function readBody(response: Response): Promise<{ text: string; structured?: JsonValue }> {
  const type = response.headers.get("content-type") ?? "text/plain";
  if (!TEXT_TYPES.test(type)) {
    const length = response.headers.get("content-length") ?? "an unknown number of";
    await response.body?.cancel();
    return { text: `(${length} bytes of ${type}, not shown)` };
  }
  const { text, isCut } = await readText(response, MAX_RESPONSE_BYTES);
  if (isCut) {
    return { text: `${text}\n(cut: only the first ${MAX_RESPONSE_BYTES} bytes are shown)` };
  }
  // A server that mislabels its text, or sends more than is parsed, is still readable as text.
  const structured = type.includes("json") ? parseJsonOrUndefined(text, ANSWER_LIMITS) : undefined;
  return structured === undefined ? { text } : { text, structured };
}
