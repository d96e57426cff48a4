import { REPORT_LIMITS } from "../../../../../platform/json/json_limits.ts";
import {
  type ServerSentEvent,
  ServerSentEvents,
} from "../../../../../platform/net/server_sent_events.ts";
import type { JsonObject } from "../../../../../platform/values/json.ts";
import { FORGOTTEN_STATUSES, saysSessionIsLost } from "./lost_session.ts";
import { isErrorMessage, messagesIn, type SentRequest } from "./read_message.ts";
import { RPC_CODES } from "./rpc_codes.ts";

/** Their status says what is to be done, whatever the body. */
const CLEAR_STATUSES: ReadonlySet<number> = new Set([401, 403, 429]);
const NAMES_REQUEST = /"id"\s*:\s*["\d]/;
const LOOKS_LIKE_EVENTS = /^\s*(?::|(?:event|data|id|retry):)/;

/** The runtime's type, which differs between versions. */
type Chunk = NonNullable<Response["body"]> extends ReadableStream<infer C> ? C : never;

/**
 * A response in UTF-8 in the form that the SDK reads: JSON or server-sent events with messages of
 * the protocol that belong to the request. Everything else about a response that servers do in their
 * own way ends here: media types, line ends, ids, errors with HTTP statuses, and results that bend
 * the protocol.
 *
 * @throws Error if a successful response has no message of the protocol.
 */
export async function readResponse(response: Response, sent: SentRequest): Promise<Response> {
  const { status, headers } = response;
  if (response.body === null || status === 202 || isClear(response)) return response;
  const mediaType = (headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ??
    "";
  if (response.ok && mediaType === "text/event-stream") {
    const events = eventsOf(response.body, sent);
    return new Response(events, { status, headers: typed(headers, "text/event-stream") });
  }
  const text = await response.text();
  const read = response.ok ? messagesOf(text, sent, status) : refusals(text, sent, response);
  if (read.length > 0) {
    return new Response(JSON.stringify(read), { headers: typed(headers, "application/json") });
  }
  if (response.ok) {
    const type = mediaType.slice(0, 100) || "missing";
    throw new Error(`The response holds no JSON-RPC message of MCP; its media type is ${type}`);
  }
  return new Response(text, { status, headers: typed(headers, "text/plain") });
}

function isClear({ status, headers }: Response): boolean {
  return status >= 300 && status < 400 || CLEAR_STATUSES.has(status) ||
    status === 503 && headers.has("retry-after");
}

/** A proxy's error belongs to no request; that of the server behind it names its own. */
function refusals(text: string, sent: SentRequest, { status }: Response): JsonObject[] {
  const errors = messagesOf(text, { ...sent, limits: REPORT_LIMITS }, status)
    .filter(isErrorMessage);
  const isOwn = status < 500 || NAMES_REQUEST.test(text) || saysSessionIsLost(text);
  return isOwn ? errors : [];
}

function messagesOf(text: string, sent: SentRequest, status: number): JsonObject[] {
  if (LOOKS_LIKE_EVENTS.test(text)) {
    const reader = new StreamedData();
    return [...reader.push(text), ...reader.end()].flatMap((data) => messagesIn(data, sent));
  }
  const messages = messagesIn(text, sent);
  if (messages.length > 0 || !saysSessionIsLost(text)) return messages;
  // A tool that ran may use the same words.
  const code = FORGOTTEN_STATUSES.has(status) ? RPC_CODES.sessionNotFound : RPC_CODES.internalError;
  const error = { code, message: text.trim() };
  return [{ jsonrpc: "2.0", id: sent.id, error }];
}

function eventsOf(
  body: NonNullable<Response["body"]>,
  sent: SentRequest,
): ReadableStream<Chunk> {
  const reader = new StreamedData();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const events = (data: readonly string[]) =>
    data.flatMap((item) => messagesIn(item, sent))
      .map((message) => encoder.encode(`data: ${JSON.stringify(message)}\n\n`) as Chunk);
  return body.pipeThrough(
    new TransformStream<Chunk, Chunk>({
      transform(chunk, controller) {
        const text = decoder.decode(chunk, { stream: true });
        for (const event of events(reader.push(text))) controller.enqueue(event);
      },
      flush(controller) {
        const rest = [...reader.push(decoder.decode()), ...reader.end()];
        for (const event of events(rest)) controller.enqueue(event);
      },
    }),
  );
}

/** The data of a stream's events; of one without any, all of it, which may be one document. */
class StreamedData {
  readonly #events = new ServerSentEvents();
  readonly #stray: string[] = [];
  #hasData = false;

  push(text: string): string[] {
    return this.#dataOf(this.#events.push(text));
  }

  end(): string[] {
    const last = this.#dataOf(this.#events.end());
    return this.#hasData || this.#stray.length === 0 ? last : [this.#stray.join("\n")];
  }

  #dataOf(events: readonly ServerSentEvent[]): string[] {
    return events.flatMap(({ data, stray }) => {
      this.#hasData ||= data.length > 0;
      if (this.#hasData) this.#stray.length = 0;
      else this.#stray.push(...stray);
      return data.length > 0 ? [data.join("\n")] : [];
    });
  }
}

function typed(given: Headers, type: string): Headers {
  const headers = new Headers(given);
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) {
    headers.delete(name);
  }
  headers.set("content-type", type);
  return headers;
}
