import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import { EMBEDDING_LIMITS } from "../../../platform/json/json_limits.ts";
import { describeExcess, parseJson } from "../../../platform/json/parse_json.ts";
import { wellFormedJson } from "../../../platform/json/well_formed_json.ts";
import { readText } from "../../../platform/net/read_text.ts";
import type { EmbedderConfig } from "./embedder_config.ts";
import { createEmbedderError } from "./embedder_error.ts";
import { toHttpError } from "./embedding_http_error.ts";

/** Options of requests to embedders. */
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
  /** The embedded texts, which no error may quote. */
  readonly texts: readonly string[];
}

/** A hundred vectors of 3,072 numbers are 7 MB. */
const MAX_RESPONSE_BYTES = 33_554_432;

/**
 * Sends a request as JSON and returns the answer's JSON.
 *
 * @throws the signal's reason when it aborts; otherwise SwarmError as documented for `Embedder`.
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
    // The guard explains a refused address; a name without an address is the embedder's failure.
    if (error instanceof SwarmError && error.code !== "TOOL_UNAVAILABLE") throw error;
    const words = error instanceof Error ? error.message : String(error);
    throw unavailable(config, `the connection failed: ${words}`, error);
  } finally {
    clearTimeout(timer);
    // Closes whatever is still open after the call.
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
    body: wellFormedJson(JSON.stringify(body)),
    // A redirect would send the key and the texts to an unregistered address.
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
      ? "its answer is not JSON"
      : `its answer cannot be read: ${describeExcess(parsed.excess)}`,
    ...(parsed.kind === "not_json" ? { cause: parsed.cause } : {}),
  });
}

function unavailable(config: EmbedderConfig, message: string, cause: unknown): SwarmError {
  return createEmbedderError(config, { code: "EMBEDDER_UNAVAILABLE", message, cause });
}
