import { definedOnly } from "../../../shared/platform/values/defined_only.ts";
import type { JsonObject } from "../../../shared/platform/values/json.ts";
import { createGuardedFetch } from "../../../shared/platform/net/guarded_fetch.ts";
import {
  createEmbedder,
  type EmbedderPorts,
} from "../../../shared/servers/quoth/embedders/create_embedder.ts";
import type { EmbedderConfig } from "../../../shared/servers/quoth/embedders/embedder_config.ts";
import type { Embedder } from "../../../shared/servers/quoth/embedders/embedder_port.ts";

/** The key that a test's provider expects; no output may contain it. */
export const KEY = "sk-embedder-test-key-1234567890";

/** The time of the tests' providers: noon in California. */
export const NOW_MS = Date.parse("2026-07-01T19:00:00Z");

/** The wire format of a provider. */
export interface EmbeddingWire {
  readonly api: "google" | "openai";
  /** The response body with these vectors, in order. */
  vectors(vectors: readonly (readonly number[])[]): string;
  /** The usage in a response with that many tokens. */
  usage(tokens: number): JsonObject;
  /** The texts in a request's body. */
  texts(body: string): string[];
  /** The body of an error with this message. */
  error(words: string): string;
}

export const WIRES: readonly [EmbeddingWire, EmbeddingWire] = [
  {
    api: "google",
    vectors: (vectors) => JSON.stringify({ embeddings: vectors.map((values) => ({ values })) }),
    usage: (tokens) => ({ usageMetadata: { promptTokenCount: tokens } }),
    texts: (body) =>
      JSON.parse(body).requests.map((request: { content: { parts: { text: string }[] } }) =>
        request.content.parts.map(({ text }) => text).join("")
      ),
    error: (message) => JSON.stringify({ error: { code: 400, message, status: "INVALID" } }),
  },
  {
    api: "openai",
    // Servers may answer in any order.
    vectors: (vectors) =>
      JSON.stringify({
        data: vectors.map((embedding, index) => ({ index, embedding })).toReversed(),
      }),
    usage: (tokens) => ({ usage: { prompt_tokens: tokens, total_tokens: tokens } }),
    texts: (body) => JSON.parse(body).input,
    error: (message) => JSON.stringify({ error: { message, type: "invalid_request_error" } }),
  },
];

/** A configuration like that of a row. */
export function configOf(overrides: Partial<EmbedderConfig> = {}): EmbedderConfig {
  return {
    name: "tested@768",
    api: "openai",
    base_url: null,
    model: "model-1",
    model_dimensions: 768,
    sends_dimensions: false,
    window_tokens: 480,
    max_batch_items: 100,
    similarity_floor: 0,
    is_english_only: false,
    quota_time_zone: "America/Los_Angeles",
    llm_provider: null,
    secret: KEY,
    ...overrides,
  };
}

/** An embedder that may use loopback, as in the embedded stack. */
export function embedderOf(
  overrides: Partial<EmbedderConfig>,
  options: { readonly requestTimeoutMs?: number } & Pick<EmbedderPorts, "onUsage"> = {},
): Embedder {
  const { onUsage, ...transport } = options;
  return createEmbedder(configOf(overrides), {
    transport: {
      fetch: createGuardedFetch({ allowLoopback: true }),
      nowMs: () => NOW_MS,
      ...transport,
    },
    ...definedOnly({ onUsage }),
  });
}

/** A vector along one axis, longer than 1. */
export function axis(place: number, dimensions = 768): number[] {
  return Array.from({ length: dimensions }, (_, index) => index === place ? 3 : 0);
}

/** The cosine of two unit vectors. */
export function similarity(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? NaN), 0);
}
