import type { Bytes } from "../../platform/values/bytes.ts";
import { SwarmError } from "../../platform/errors/swarm_error.ts";
import { wellFormedJson } from "../../platform/json/well_formed_json.ts";
import { createModelError, toAnswerError, toModelHttpError } from "./model_error.ts";
import type { GenerateOptions, ModelEndpoint } from "./model_port.ts";
import { pacedBody } from "./paced_body.ts";
import { type AnswerReader, readAnswer } from "./read_answer.ts";
import { SCRIPTED_AGENT_HEADER } from "./scripted_model.ts";

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
const defaultStreamPauseMs = () => 200;
const noPauseMs = () => 0;
const STREAM_IDLE_TIMEOUT_MS = 120_000;
const WHOLE_ANSWER_IDLE_TIMEOUT_MS = 600_000;

/** Bytes read of an error body; the important part is at the beginning. */
const MAX_ERROR_BODY_BYTES = 65_536;

/** Headers that carry a key in one of the three APIs. */
const KEY_HEADERS = ["authorization", "x-api-key", "x-goog-api-key"];

/** What an adapter sends its request with, and reads the answer from. */
export interface AnswerTransport {
  /**
   * Keeps the answer for `read()`; the SDK gets an empty one, because it reads only the form that it
   * asked for.
   */
  readonly fetch: ModelFetch;
  readonly isStreamed: boolean;
  /** Reads the answer to the last request. */
  read(reader: AnswerReader): Promise<void>;
}

/**
 * Runs one model call over a monitored `fetch` and converts any failure into one `SwarmError`.
 *
 * Each SDK wraps, renames or swallows network failures differently, so the transport records the
 * first failure and throws it.
 *
 * @param asked Its signal aborts the call; with `onDelta` the answer streams.
 * @param run Sends the request with the SDK, and reads the answer.
 * @throws The signal's reason when it aborts; otherwise SwarmError as in {@linkcode ModelAdapter}.
 */
export async function callOverTransport<T>(
  endpoint: ModelEndpoint,
  options: TransportOptions,
  { signal, onDelta, streamPauseMs = defaultStreamPauseMs }: GenerateOptions,
  run: (transport: AnswerTransport) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const isStreamed = onDelta !== undefined;
  const idleTimeoutMs = isStreamed ? STREAM_IDLE_TIMEOUT_MS : WHOLE_ANSWER_IDLE_TIMEOUT_MS;
  const transport = new ModelTransport(
    endpoint,
    { idleTimeoutMs, ...options, isStreamed, streamPauseMs },
    signal,
  );
  const close = () => transport.close();
  signal.addEventListener("abort", close);
  try {
    return await run(transport);
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
  readonly streamPauseMs: () => number;
};

/** One call's connection: idle timeout, size limit, and the first failure. */
class ModelTransport implements AnswerTransport {
  readonly #endpoint: ModelEndpoint;
  readonly #options: WatchedTransport;
  readonly #signal: AbortSignal;
  readonly #closed = new AbortController();
  #body: ReadableStream<Bytes> | null = null;
  failure: SwarmError | undefined;

  constructor(endpoint: ModelEndpoint, options: WatchedTransport, signal: AbortSignal) {
    this.#endpoint = endpoint;
    this.#options = options;
    this.#signal = signal;
  }

  get isStreamed(): boolean {
    return this.#options.isStreamed;
  }

  readonly fetch: ModelFetch = async (input, init = {}) => {
    const { body: json } = init;
    const send = this.#options.fetch ?? fetch;
    // A redirect would send the key to an unregistered address.
    const response = await this.#watch(send(input, {
      ...init,
      ...(typeof json === "string" ? { body: wellFormedJson(json) } : {}),
      headers: this.#headers(init.headers),
      redirect: "manual",
      signal: AbortSignal.any([this.#signal, this.#closed.signal]),
    }));
    if (!response.ok) throw this.#fail(await this.#readError(response));
    if (isWebPage(response.headers)) throw this.#fail(await this.#notAnApi(response));
    this.#body = this.#watchedBody(response);
    return Response.json({});
  };

  async read(reader: AnswerReader): Promise<void> {
    try {
      await readAnswer(this.#body, reader);
    } catch (error) {
      // The reason is the last part of an answer: what failed is only the end of the connection.
      if (this.failure === undefined || reader.answer.reason === "") throw error;
    }
    this.#signal.throwIfAborted();
  }

  /** Closes whatever is still open; has no effect after a finished call. */
  close(): void {
    this.#closed.abort();
  }

  /** The SDKs require a key; it is removed for a provider that needs none. */
  #headers(given: HeadersInit | undefined): Headers {
    const headers = new Headers(given);
    const { apiKey, scriptedAgent } = this.#endpoint;
    if (apiKey === null) KEY_HEADERS.forEach((name) => headers.delete(name));
    if (scriptedAgent !== undefined) headers.set(SCRIPTED_AGENT_HEADER, scriptedAgent);
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
      pauseMs: isStream ? this.#options.streamPauseMs : noPauseMs,
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

  #fail(failure: SwarmError): SwarmError {
    return this.failure ??= failure;
  }
}

function isWebPage(headers: Headers): boolean {
  return /^text\/html\b/i.test(headers.get("content-type") ?? "");
}

function isEventStream(headers: Headers): boolean {
  return /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}
