import type { Bytes } from "../../platform/values/bytes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { type JsonExcess, MODEL_LIMITS } from "../../platform/json/json_limits.ts";
import { describeExcess } from "../../platform/json/parse_json.ts";
import { wellFormedJson } from "../../platform/json/well_formed_json.ts";
import { measuredBody } from "../../platform/net/guard_json.ts";
import { createModelError, toAnswerError, toModelHttpError } from "./model_error.ts";
import type { GenerateOptions, ModelEndpoint } from "./model_port.ts";
import { pacedBody } from "./paced_body.ts";

/** The part of `fetch` that the SDKs use. */
export type ModelFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Options of the transport for model calls. */
export interface TransportOptions {
  /** Sends the requests; the product passes a `fetch` that refuses private addresses. */
  readonly fetch?: ModelFetch;
  /**
   * Longest silence of the server, before the first byte and between bytes.
   *
   * @default 120_000 for a streamed answer; 600_000 for a whole one, which arrives only when it is
   * complete
   */
  readonly idleTimeoutMs?: number;
  /** Longest answer on the wire. @default 33_554_432 */
  readonly maxResponseBytes?: number;
}

/** People do not read faster, and each read of a stream costs CPU. */
const STREAM_PAUSE_MS = 200;
const STREAM_IDLE_TIMEOUT_MS = 120_000;
const WHOLE_ANSWER_IDLE_TIMEOUT_MS = 600_000;

/** Bytes read of an error body; the important part is at the beginning. */
const MAX_ERROR_BODY_BYTES = 65_536;

/** Headers that carry a key in one of the three APIs. */
const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key"];

/**
 * Runs one model call over a monitored `fetch` and converts any failure into one `SwarmError`.
 *
 * Each SDK wraps, renames or swallows network failures differently, so the transport records the
 * first failure and throws it.
 *
 * @param asked Its signal aborts the call; with `onDelta` the answer streams.
 * @param run Calls the SDK with the given `fetch` for a streamed or a whole answer. A compatible
 * server may answer in the other form than asked: then it runs once more, on the received answer.
 * @throws The signal's reason when it aborts; otherwise SwarmError as in {@linkcode ModelAdapter}.
 */
export async function callOverTransport<T>(
  endpoint: ModelEndpoint,
  options: TransportOptions,
  { signal, onDelta }: GenerateOptions,
  run: (fetch: ModelFetch, isStreamed: boolean) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const idleTimeoutMs = onDelta === undefined
    ? WHOLE_ANSWER_IDLE_TIMEOUT_MS
    : STREAM_IDLE_TIMEOUT_MS;
  const isStreamed = onDelta !== undefined;
  const transport = new ModelTransport(endpoint, { idleTimeoutMs, ...options, isStreamed }, signal);
  const close = () => transport.close();
  signal.addEventListener("abort", close);
  try {
    try {
      return await run(transport.fetch, isStreamed);
    } catch (error) {
      const { unaskedForm } = transport;
      if (unaskedForm === undefined) throw error;
      return await run(() => Promise.resolve(unaskedForm), !isStreamed);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw transport.failure ?? toAnswerError(endpoint, error);
  } finally {
    signal.removeEventListener("abort", close);
    transport.close();
  }
}

type WatchedTransport = TransportOptions & {
  readonly idleTimeoutMs: number;
  readonly isStreamed: boolean;
};

/** One call's connection: idle timeout, JSON limits, and the first failure. */
class ModelTransport {
  readonly #endpoint: ModelEndpoint;
  readonly #options: WatchedTransport;
  readonly #signal: AbortSignal;
  readonly #closed = new AbortController();
  #sdkSignal: AbortSignal | undefined;
  failure: SwarmError | undefined;
  /** The answer of a server that streams without being asked to, or does not although asked to. */
  unaskedForm: Response | undefined;

  constructor(endpoint: ModelEndpoint, options: WatchedTransport, signal: AbortSignal) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#signal = signal;
  }

  readonly fetch: ModelFetch = async (input, init = {}) => {
    const { body: json } = init;
    const send = this.#options.fetch ?? fetch;
    this.#sdkSignal = init.signal ?? undefined;
    const signals = [this.#signal, this.#closed.signal, this.#sdkSignal].filter(isSignal);
    // A redirect would send the key to an unregistered address.
    const response = await this.#watch(send(input, {
      ...init,
      ...(typeof json === "string" ? { body: wellFormedJson(json) } : {}),
      headers: this.#headers(init.headers),
      redirect: "manual",
      signal: AbortSignal.any(signals),
    }));
    if (!response.ok) throw this.#fail(await this.#readError(response));
    if (isWebPage(response.headers)) throw this.#fail(await this.#notAnApi(response));
    const watched = this.#watchedBody(response);
    // Measured in the few large chunks that a read collects.
    const measured = watched === null ? null : measuredBody(
      watched,
      response.headers,
      MODEL_LIMITS,
      (excess) => this.#fail(this.#unread(excess)),
    );
    const { body, streams } = await this.#lookAt(measured, response.headers);
    const answer = new Response(body, { status: response.status, headers: response.headers });
    if (streams !== this.#options.isStreamed) {
      this.#sdkSignal = undefined;
      this.unaskedForm = answer;
      throw new TypeError(streams ? "The answer streams" : "The answer does not stream");
    }
    return answer;
  };

  /** A stream may have the media type of JSON, so a document must also start as one. */
  async #lookAt(
    body: ReadableStream<Bytes> | null,
    headers: Headers,
  ): Promise<{ readonly body: ReadableStream<Bytes> | null; readonly streams: boolean }> {
    const { isStreamed } = this.#options;
    if (!isStreamed || body === null || !isJson(headers)) {
      return { body, streams: isStreamed || isEventStream(headers) };
    }
    const [start, whole] = body.tee();
    return { body: whole, streams: !/^\s*[{[]/.test(await readStart(start)) };
  }

  /** Closes whatever is still open; has no effect after a finished call. */
  close(): void {
    this.#closed.abort();
  }

  /** The SDKs require a key; it is removed for a provider that needs none. */
  #headers(given: HeadersInit | undefined): Headers {
    const headers = new Headers(given);
    if (this.#endpoint.apiKey === null) KEY_HEADERS.forEach((name) => headers.delete(name));
    return headers;
  }

  /** Waits for the server, but not longer than the idle timeout. */
  async #watch<T>(waiting: Promise<T>): Promise<T> {
    const { idleTimeoutMs } = this.#options;
    const timer = setTimeout(() => {
      this.#fail(createModelError(this.#endpoint, {
        code: "MODEL_TIMEOUT",
        message: `it was silent for ${idleTimeoutMs / 1000} s`,
      }));
      this.close();
    }, idleTimeoutMs);
    try {
      return await waiting;
    } catch (error) {
      // An SDK that stops reading throws its own error.
      if (this.#sdkSignal?.aborted && !this.#closed.signal.aborted) throw error;
      throw this.#fail(this.#toNetworkError(error));
    } finally {
      clearTimeout(timer);
    }
  }

  #watchedBody({ body, headers }: Response): ReadableStream<Bytes> | null {
    if (body === null) return null;
    const maxBytes = this.#options.maxResponseBytes ?? 33_554_432;
    const isStream = isEventStream(headers);
    return pacedBody(body, {
      watch: (waiting) => this.#watch(waiting),
      onReceived: (receivedBytes) => {
        if (receivedBytes > maxBytes) throw this.#fail(this.#tooLarge(maxBytes));
      },
      pauseMs: isStream ? STREAM_PAUSE_MS : 0,
      signal: this.#closed.signal,
    });
  }

  async #readError(response: Response): Promise<SwarmError> {
    const { status, headers } = response;
    const body = await this.#readStart(response);
    const redirected = status >= 300 && status < 400
      ? "it responded with a redirect, which is not followed"
      : "";
    return toModelHttpError(this.#endpoint, { status, headers, body: redirected || body });
  }

  async #readStart(response: Response): Promise<string> {
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (reader !== undefined && text.length < MAX_ERROR_BODY_BYTES) {
      const { done, value } = await this.#watch(reader.read());
      if (done) return text;
      text += decoder.decode(value, { stream: true });
    }
    await reader?.cancel();
    return text;
  }

  #toNetworkError(error: unknown): SwarmError {
    // The guard explains a refused address; a name without an address is the provider's failure.
    if (error instanceof SwarmError && error.code !== "TOOL_UNAVAILABLE") return error;
    const words = error instanceof Error ? error.message : String(error);
    return createModelError(this.#endpoint, {
      code: "MODEL_UNAVAILABLE",
      message: `the connection failed: ${words}`,
      cause: error,
    });
  }

  /** A web page from a proxy or portal, with any status: the model itself was not reached. */
  async #notAnApi(response: Response): Promise<SwarmError> {
    await response.body?.cancel();
    return createModelError(this.#endpoint, {
      code: "MODEL_UNAVAILABLE",
      message: "it answered with a web page",
    });
  }

  #tooLarge(maxBytes: number): SwarmError {
    return createModelError(this.#endpoint, {
      code: "MODEL_OUTPUT_INVALID",
      message: `its answer is longer than ${maxBytes} bytes`,
    });
  }

  #unread(excess: JsonExcess): SwarmError {
    return createModelError(this.#endpoint, {
      code: "MODEL_OUTPUT_INVALID",
      message: `its answer cannot be read: ${describeExcess(excess)}`,
    });
  }

  #fail(failure: SwarmError): SwarmError {
    return this.failure ??= failure;
  }
}

function isWebPage(headers: Headers): boolean {
  return headers.get("content-type")?.startsWith("text/html") ?? false;
}

function isEventStream(headers: Headers): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

function isJson(headers: Headers): boolean {
  return headers.get("content-type")?.startsWith("application/json") ?? false;
}

/** A body's text up to the end of the first chunk that is not only white space. */
async function readStart(body: ReadableStream<Bytes>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (text.trim() === "") {
    const { done, value } = await reader.read();
    if (done) return text;
    text = decoder.decode(value, { stream: true });
  }
  // Cancelling one branch of a tee waits for the other one.
  void reader.cancel().catch(() => {});
  return text;
}

function isSignal(signal: AbortSignal | undefined): signal is AbortSignal {
  return signal !== undefined;
}
