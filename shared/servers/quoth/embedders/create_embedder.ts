import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import type { EmbedderConfig } from "./embedder_config.ts";
import { createEmbedderError } from "./embedder_error.ts";
import type { Embedder } from "./embedder_port.ts";
import { type EmbeddingInput, type EmbeddingModel, textsOf } from "./embedding_model.ts";
import type { EmbeddingTransport } from "./embedding_request.ts";
import { estimateTextTokens } from "../markdown/token_meter.ts";
import { createGoogleModel } from "./google_model.ts";
import { hashWords } from "./lexical_hash.ts";
import { createOpenAiModel } from "./openai_model.ts";
import { createSupabaseModel, type OpenBuiltInSession } from "./supabase_model.ts";
import { toUnitVector } from "./unit_vector.ts";

const DIMENSIONS = 768;

/** The dependencies of embedders. */
export interface EmbedderPorts {
  readonly transport: EmbeddingTransport;
  /** @default the edge runtime's own models */
  readonly openBuiltInSession?: OpenBuiltInSession;
  /** Called with the usage of each answered request of a billing provider. */
  readonly onUsage?: (usage: EmbeddingUsage) => void;
}

/** The usage of one request. */
export interface EmbeddingUsage {
  /** `llm_providers.name`. */
  readonly provider: string;
  readonly model: string;
  /** Estimated at four characters each if the provider does not count them. */
  readonly inputTokens: number;
}

/** Creates the embedder of a configuration; nothing is sent before the first text. */
export function createEmbedder(config: EmbedderConfig, ports: EmbedderPorts): Embedder {
  const model = createModel(config, ports);
  const embed = (input: EmbeddingInput, signal: AbortSignal) =>
    model === null ? hashTexts(input) : embedWith(config, model, { input, ports }, signal);
  return {
    name: config.name,
    dimensions: DIMENSIONS,
    windowTokens: config.window_tokens,
    similarityFloor: config.similarity_floor,
    isEnglishOnly: config.is_english_only,
    maxBatchItems: config.max_batch_items,
    async embedDocuments(items, signal) {
      signal.throwIfAborted();
      if (items.length === 0) return [];
      assertBatchFits(config, items.length);
      return await embed({ kind: "documents", items }, signal);
    },
    async embedQuery(text, signal) {
      signal.throwIfAborted();
      const [vector] = await embed({ kind: "query", text }, signal);
      if (vector === undefined) {
        throw new SwarmError("INTERNAL", "Cannot embed the query: the answer has no vector");
      }
      return vector;
    },
  };
}

/** Null for words only. */
function createModel(config: EmbedderConfig, ports: EmbedderPorts): EmbeddingModel | null {
  switch (config.api) {
    case "google":
      return createGoogleModel(config, ports.transport);
    case "openai":
      return createOpenAiModel(config, ports.transport);
    case "supabase":
      return createSupabaseModel(config, ports.openBuiltInSession);
    case "hash":
      return null;
  }
}

async function embedWith(
  config: EmbedderConfig,
  model: EmbeddingModel,
  { input, ports }: { readonly input: EmbeddingInput; readonly ports: EmbedderPorts },
  signal: AbortSignal,
): Promise<number[][]> {
  const texts = textsOf(input);
  const { vectors, inputTokens } = await model.embed(input, signal);
  if (config.llm_provider !== null) {
    ports.onUsage?.({
      provider: config.llm_provider,
      model: config.model,
      inputTokens: inputTokens ?? texts.reduce((sum, text) => sum + estimateTextTokens(text), 0),
    });
  }
  if (vectors.length !== texts.length) {
    throw invalid(config, `it made ${vectors.length} vectors of ${texts.length} texts`);
  }
  return texts.map((text, index) => complete(config, vectors[index] ?? [], text));
}

/**
 * Validates a model's vector, normalizes it to length 1 and fills it up to 768 with the text's word
 * hash.
 */
function complete(config: EmbedderConfig, vector: readonly number[], text: string): number[] {
  if (vector.length !== config.model_dimensions) {
    throw invalid(
      config,
      `its vectors have ${vector.length} numbers, not ${config.model_dimensions}`,
    );
  }
  const unit = toUnitVector(vector);
  if (unit === null) throw invalid(config, "one of its vectors has no direction");
  return unit.length === DIMENSIONS
    ? unit
    : joinVectors(unit, hashWords(text, DIMENSIONS - unit.length));
}

function hashTexts(input: EmbeddingInput): Promise<number[][]> {
  return Promise.resolve(textsOf(input).map((text) => hashWords(text, DIMENSIONS)));
}

function assertBatchFits(config: EmbedderConfig, itemCount: number): void {
  if (itemCount <= config.max_batch_items) return;
  throw new SwarmError(
    "INTERNAL",
    `Cannot embed ${itemCount} texts in one request: '${config.name}' accepts ${config.max_batch_items}`,
  );
}

function invalid(config: EmbedderConfig, message: string): SwarmError {
  return createEmbedderError(config, { code: "EMBEDDER_OUTPUT_INVALID", message });
}

/**
 * Weight of the words in the similarity of joined vectors. Measured on documentation: 0.3 keeps the
 * model's quality for paraphrases and finds exact names almost as well as full-text search.
 */
const LEXICAL_SHARE = 0.3;

/**
 * Joins two unit vectors into one, so that the cosine of two joined vectors is the weighted mean of
 * the cosines of their parts: `0.7 · meaning + 0.3 · words`.
 */
function joinVectors(meaning: readonly number[], words: readonly number[]): number[] {
  const meaningWeight = Math.sqrt(1 - LEXICAL_SHARE);
  const wordsWeight = Math.sqrt(LEXICAL_SHARE);
  const joined = [
    ...meaning.map((value) => value * meaningWeight),
    ...words.map((value) => value * wordsWeight),
  ];
  // Rounding, and parts that are not quite of length 1, must not add up.
  return toUnitVector(joined) ?? joined;
}
