import { SwarmError } from "../../errors/swarm_error.ts";
import { EMBEDDING_LIMITS } from "../../json/json_limits.ts";
import { describeExcess, parseJson } from "../../json/parse_json.ts";
import { readText } from "../../net/read_text.ts";
import type { EmbedderConfig } from "./embedder_config.ts";
import { createEmbedderError } from "./embedder_error.ts";
import { toHttpError } from "./embedding_http_error.ts";

/** How requests to embedders travel. */
export interface EmbeddingTransport {
  /** Sends the requests; the product passes a `fetch` that refuses private addresses. */
  readonly fetch: typeof fetch;
  /** Longest wait for a whole answer. @default 60_000 */
  readonly requestTimeoutMs?: number;
  /** The current time in milliseconds since the epoch. */
  readonly nowMs: () => number;
}

/** A request to one embedder. */
export interface EmbeddingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** What is embedded, so that no error repeats it. */
  readonly texts: readonly string[];
}

/** A hundred vectors of 3,072 numbers are 7 MB. */
const MAX_RESPONSE_BYTES = 33_554_432;

/**
 * Sends a request as JSON and returns the answer's JSON.
 *
 * @throws the signal's reason when it aborts; else SwarmError as `Embedder` has it.
 */
export async function requestEmbeddings(
  config: EmbedderConfig,
  request: EmbeddingRequest,
  transport: EmbeddingTransport,
  signal: AbortSignal,
): Promise<unknown> {
  signal.throwIfAborted();
  const deadline = new AbortController();
  const timeoutMs = transport.requestTimeoutMs ?? 60_000;
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    return await send(config, request, transport, AbortSignal.any([signal, deadline.signal]));
  } catch (error) {
    signal.throwIfAborted();
    if (deadline.signal.aborted) {
      throw unavailable(config, `it did not answer within ${timeoutMs / 1000} s`, error);
    }
    // A refused address is the guard's to explain; a name without an address is our embedder's.
    if (error instanceof SwarmError && error.code !== "TOOL_UNAVAILABLE") throw error;
    const words = error instanceof Error ? error.message : String(error);
    throw unavailable(config, `the connection failed: ${words}`, error);
  } finally {
    clearTimeout(timer);
    // Whatever is still open ends with the call.
    deadline.abort();
  }
}

async function send(
  config: EmbedderConfig,
  { url, headers, body, texts }: EmbeddingRequest,
  transport: EmbeddingTransport,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await transport.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    // A redirect would carry the key and the texts to an address nobody registered.
    redirect: "manual",
    signal,
  });
  const { text, isCut } = await readText(response, MAX_RESPONSE_BYTES);
  if (!response.ok) {
    const answer = { status: response.status, headers: response.headers, body: text };
    throw toHttpError(config, answer, { texts, nowMs: transport.nowMs() });
  }
  if (isCut) {
    throw createEmbedderError(config, {
      code: "EMBEDDER_OUTPUT_INVALID",
      message: `its answer is longer than ${MAX_RESPONSE_BYTES} bytes`,
    });
  }
  const parsed = parseJson(text, EMBEDDING_LIMITS);
  if (parsed.kind === "json") return parsed.value;
  throw createEmbedderError(config, {
    code: "EMBEDDER_OUTPUT_INVALID",
    message: parsed.kind === "not_json"
      ? "its answer is no JSON"
      : `its answer cannot be read: ${describeExcess(parsed.excess)}`,
    ...(parsed.kind === "not_json" ? { cause: parsed.cause } : {}),
  });
}

function unavailable(config: EmbedderConfig, message: string, cause: unknown): SwarmError {
  return createEmbedderError(config, { code: "EMBEDDER_UNAVAILABLE", message, cause });
}
