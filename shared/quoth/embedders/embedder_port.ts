/** A piece of a document as it is embedded. */
export interface EmbeddedDocument {
  /** The document's title, for models that take it apart from the text. */
  readonly title: string;
  /** The whole text to embed; it goes to the model as it is. */
  readonly text: string;
}

/**
 * Makes vectors of documents and of queries, all in one vector space.
 *
 * Vectors have {@linkcode dimensions} finite numbers and the length 1. Both methods send at once
 * and never retry; they throw the signal's reason when it aborts, else `SwarmError`:
 *
 * - `EMBEDDER_RATE_LIMITED` with details `{retryAfterMs}`: wait that long.
 * - `EMBEDDER_QUOTA_EXHAUSTED` with details `{untilIso}`: the day's quota is used up until then.
 * - `EMBEDDER_UNAVAILABLE`: it failed, took too long or does not run here; later it may.
 * - `EMBEDDER_REFUSED`: it refuses the key, the account or the model; repeating is useless.
 * - `EMBEDDER_TEXT_REFUSED`: it refuses the request, perhaps for one of its texts.
 * - `EMBEDDER_OUTPUT_INVALID`: its answer is no list of vectors of the right length.
 */
export interface Embedder {
  /** Identifies the vector space, such as `minilm-l6-v2+hash384@1`. */
  readonly name: string;
  readonly dimensions: 768;
  /**
   * Longest text to give it, in tokens estimated at four characters each. No guard: a model that
   * counts more of them, as in text full of punctuation, does not see the end.
   */
  readonly windowTokens: number;
  /** Cosine similarity below which a hit is most likely unrelated; 0 where it was not measured. */
  readonly similarityFloor: number;
  readonly isEnglishOnly: boolean;
  /** Most documents in one call. */
  readonly maxBatchItems: number;
  /** The vectors in the order of the items. */
  embedDocuments(
    items: readonly EmbeddedDocument[],
    signal: AbortSignal,
  ): Promise<number[][]>;
  embedQuery(text: string, signal: AbortSignal): Promise<number[]>;
}
