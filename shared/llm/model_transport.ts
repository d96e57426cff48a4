import type { Bytes } from "../bytes.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import { type JsonExcess, MODEL_LIMITS } from "../json/json_limits.ts";
import { describeExcess } from "../json/parse_json.ts";
import { measuredBody } from "../net/guard_json.ts";
import { createModelError, toAnswerError, toHttpError } from "./model_error.ts";
import type { GenerateOptions, ModelEndpoint } from "./model_port.ts";
import { pacedBody } from "./paced_body.ts";

/** The part of `fetch` that the SDKs use. */
export type ModelFetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** How model calls travel. */
export interface TransportOptions {
  /** Sends the requests; the product passes one that refuses private addresses. */
  readonly fetch?: ModelFetch;
  /**
   * Longest silence of the server, before its first byte and between two.
   *
   * @default 120_000 of a streamed answer; 600_000 of a whole one, which comes after a silence as
   * long as its making
   */
  readonly idleTimeoutMs?: number;
  /** Longest answer on the wire. @default 33_554_432 */
  readonly maxResponseBytes?: number;
  /** Milliseconds between two looks at a streamed answer. @default 200 */
  readonly streamPauseMs?: number;
  /** Hears, at each look at an answer, how many pieces of it had come. */
  readonly onLook?: (pieceCount: number) => void;
}

/** People read no faster, and each look at a stream costs CPU. */
const STREAM_PAUSE_MS = 200;
const STREAM_IDLE_TIMEOUT_MS = 120_000;
const WHOLE_ANSWER_IDLE_TIMEOUT_MS = 600_000;

/** Error bodies are read this far; what matters stands at their beginning. */
const MAX_ERROR_BODY_BYTES = 65_536;

/** Headers that carry a key in one of the three APIs. */
const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key"];

/**
 * Runs one model call over a watched `fetch` and turns whatever goes wrong into one `SwarmError`.
 *
 * The SDKs each wrap, rename or swallow network failures in their own way, so the transport
 * notes the first failure itself, and that is what is thrown.
 *
 * @param asked Its signal aborts the call; with `onDelta` the answer streams.
 * @param run Calls the SDK with the given `fetch` for a streamed or a whole answer. A compatible
 * server may stream although it was not asked to: then it runs once more, on the answer that came.
 * @throws the signal's reason when it aborts; else SwarmError as {@linkcode ModelAdapter} has it.
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
      const { unaskedStream } = transport;
      if (unaskedStream === undefined) throw error;
      return await run(() => Promise.resolve(unaskedStream), true);
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

/** One call's connection: deadline of silence, limits of its JSON, and the first failure. */
class ModelTransport {
  readonly #endpoint: ModelEndpoint;
  readonly #options: WatchedTransport;
  readonly #signal: AbortSignal;
  readonly #closed = new AbortController();
  #sdkSignal: AbortSignal | undefined;
  failure: SwarmError | undefined;
  /** The answer of a server that streams unasked. */
  unaskedStream: Response | undefined;

  constructor(endpoint: ModelEndpoint, options: WatchedTransport, signal: AbortSignal) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#signal = signal;
  }

  readonly fetch: ModelFetch = async (input, init = {}) => {
    const send = this.#options.fetch ?? fetch;
    this.#sdkSignal = init.signal ?? undefined;
    const signals = [this.#signal, this.#closed.signal, this.#sdkSignal].filter(isSignal);
    // A redirect would carry the key to an address nobody registered.
    const response = await this.#watch(send(input, {
      ...init,
      headers: this.#headers(init.headers),
      redirect: "manual",
      signal: AbortSignal.any(signals),
    }));
    if (!response.ok) throw this.#fail(await this.#readError(response));
    if (isWebPage(response.headers)) throw this.#fail(await this.#notAnApi(response));
    const watched = this.#watchedBody(response);
    // Measured in the few large pieces that a look gathers.
    const body = watched === null ? null : measuredBody(
      watched,
      response.headers,
      MODEL_LIMITS,
      (excess) => this.#fail(this.#unread(excess)),
    );
    const answer = new Response(body, { status: response.status, headers: response.headers });
    if (isEventStream(response.headers) && !this.#options.isStreamed) {
      this.#sdkSignal = undefined;
      this.unaskedStream = answer;
      throw new TypeError("The answer streams");
    }
    return answer;
  };

  /** Ends whatever is still open; harmless after a finished call. */
  close(): void {
    this.#closed.abort();
  }

  /** The SDKs insist on a key; a provider that needs none gets none. */
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
      // An SDK that stops reading by itself has its reasons, and throws them.
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
      onLook: this.#options.onLook,
      pauseMs: isStream ? this.#options.streamPauseMs ?? STREAM_PAUSE_MS : 0,
      signal: this.#closed.signal,
    });
  }

  async #readError(response: Response): Promise<SwarmError> {
    const { status, headers } = response;
    const body = await this.#readStart(response);
    const redirected = status >= 300 && status < 400 ? "it redirects, which is not followed" : "";
    return toHttpError(this.#endpoint, { status, headers, body: redirected || body });
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
    // A refused address is the guard's to explain; a name without an address is our provider's.
    if (error instanceof SwarmError && error.code !== "TOOL_UNAVAILABLE") return error;
    const words = error instanceof Error ? error.message : String(error);
    return createModelError(this.#endpoint, {
      code: "MODEL_UNAVAILABLE",
      message: `the connection failed: ${words}`,
      cause: error,
    });
  }

  /** A proxy's or portal's page, whatever its status: the model itself was not reached. */
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

function isSignal(signal: AbortSignal | undefined): signal is AbortSignal {
  return signal !== undefined;
}
