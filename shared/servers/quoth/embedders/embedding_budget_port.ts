/** How much may be embedded now. */
export interface EmbeddingGrant {
  /** From 0 to the requested number. */
  readonly grantedItems: number;
  /** When to request more; 0 if everything was granted. */
  readonly waitMs: number;
  /** Set if nothing may be sent before then. */
  readonly pause: EmbeddingPause | null;
}

/** The reason and end of an embedder's pause. */
export type EmbeddingPause =
  /** The provider requested it, or the daily quota is used up. */
  | { readonly reason: "rate_limited" | "quota_exhausted"; readonly until: Date }
  /** It rejects every request, with this message. */
  | { readonly reason: "refused"; readonly until: Date; readonly message: string };

/** The limits of one embedder, shared by every instance. */
export interface EmbeddingBudget {
  /** Reserves capacity for this many texts, or as many as possible. */
  take(items: number, kind: "documents" | "query"): Promise<EmbeddingGrant>;
  /** Pauses the embedder for every instance. */
  pause(pause: EmbeddingPause): Promise<void>;
}
