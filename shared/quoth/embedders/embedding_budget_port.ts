/** How much may be embedded now. */
export interface EmbeddingGrant {
  /** From 0 to the number asked for. */
  readonly grantedItems: number;
  /** When more may be asked for; 0 when all was granted. */
  readonly waitMs: number;
  /** Set when nothing goes before then. */
  readonly pause: EmbeddingPause | null;
}

/** Why and until when an embedder rests. */
export type EmbeddingPause =
  /** The provider has said so, or the day's quota is used up. */
  | { readonly reason: "rate_limited" | "quota_exhausted"; readonly until: Date }
  /** It refuses whatever it is given, with this message. */
  | { readonly reason: "refused"; readonly until: Date; readonly message: string };

/** The limits of one embedder, shared by every instance. */
export interface EmbeddingBudget {
  /** Takes room for that many texts, or for as many as there is room for. */
  take(items: number, kind: "documents" | "query"): Promise<EmbeddingGrant>;
  /** Notes for every instance that the embedder has to be left alone. */
  pause(pause: EmbeddingPause): Promise<void>;
}
