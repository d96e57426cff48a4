/** A part of a document to embed. */
export interface EmbeddedDocument {
  /** The document's title, for models that accept it separately from the text. */
  readonly title: string;
  /** The full text to embed; it is sent to the model unchanged. */
  readonly text: string;
}

/**
 * Creates vectors of documents and of queries, all in one vector space.
 *
 * Vectors have {@linkcode dimensions} finite numbers and the length 1. Both methods send
 * immediately and never retry; they throw the signal's reason when it aborts, otherwise
 * `SwarmError`:
 *
 * - `EMBEDDER_RATE_LIMITED` with details `{retryAfterMs}`: wait that long.
 * - `EMBEDDER_QUOTA_EXHAUSTED` with details `{untilIso}`: the daily quota is used up until then.
 * - `EMBEDDER_UNAVAILABLE`: it failed, took too long or is not available here; a retry may succeed.
 * - `EMBEDDER_REFUSED`: it rejects the key, the account or the model; a retry is useless.
 * - `EMBEDDER_TEXT_REFUSED`: it rejects the request, perhaps because of one of its texts.
 * - `EMBEDDER_OUTPUT_INVALID`: its answer is not a list of vectors of the right length.
 */
export interface Embedder {
  /** Identifies the vector space, such as `minilm-l6-v2+hash384@1`. */
  readonly name: string;
  readonly dimensions: 768;
  /**
   * Longest text for it, in tokens estimated at four characters each. Only an estimate: a model
   * that counts more tokens, as in text full of punctuation, does not see the end.
   */
  readonly windowTokens: number;
  /** Cosine similarity below which a hit is most likely unrelated; 0 if it was not measured. */
  readonly similarityFloor: number;
  readonly isEnglishOnly: boolean;
  /** Maximum number of documents in one call. */
  readonly maxBatchItems: number;
  /** The vectors in the order of the items. */
  embedDocuments(items: readonly EmbeddedDocument[], signal: AbortSignal): Promise<number[][]>;
  embedQuery(text: string, signal: AbortSignal): Promise<number[]>;
}
