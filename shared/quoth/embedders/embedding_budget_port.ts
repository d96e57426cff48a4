/** How much may be embedded now. */
export interface EmbeddingGrant {
  /** From 0 to the number asked for. */
  readonly grantedItems: number;
  /** When more may be asked for; 0 when all was granted. */
  readonly waitMs: number;
  /** Set when nothing goes before then: the provider has said so, or the day's quota is used up. */
  readonly pausedUntil: Date | null;
  readonly pauseReason: PauseReason | null;
}

/** Why an embedder rests. */
export type PauseReason = "rate_limited" | "quota_exhausted";

/** The limits of one embedder, shared by every instance. */
export interface EmbeddingBudget {
  /** Takes room for that many texts, or for as many as there is room for. */
  take(items: number, kind: "documents" | "query"): Promise<EmbeddingGrant>;
  /** Notes for every instance that the provider told us to wait. */
  pause(until: Date, reason: PauseReason): Promise<void>;
}
