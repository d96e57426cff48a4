import { z } from "zod";
import { SwarmError } from "../../errors/swarm_error.ts";
import { createQuotaError, createRateLimitError } from "./embedder_error.ts";
import type { EmbeddedDocument, Embedder } from "./embedder_port.ts";
import type { EmbeddingBudget, EmbeddingGrant, PauseReason } from "./embedding_budget_port.ts";

/** What became of a list of documents. */
export interface EmbeddedPart {
  /** Vectors of the first documents of the list; fewer than documents when there was no room. */
  readonly vectors: readonly number[][];
  /** When the rest may be tried; 0 when there is none. */
  readonly waitMs: number;
  /** Set when nothing goes before then. */
  readonly pausedUntil: Date | null;
  readonly pauseReason: PauseReason | null;
}

/** An embedder that keeps to its limits, together with every other instance. */
export interface MeteredEmbedder {
  /**
   * Embeds as many of the first documents as one request and the limits allow. A provider that
   * answers that it is too early is no error here: the part is empty and says how long to wait.
   *
   * @throws SwarmError as `Embedder` has it, but for the two limits.
   */
  embedPart(items: readonly EmbeddedDocument[], signal: AbortSignal): Promise<EmbeddedPart>;
  /**
   * Embeds a query out of what is reserved for queries.
   *
   * @throws SwarmError as `Embedder` has it; the two limits also when nothing was sent.
   */
  embedQuery(text: string, signal: AbortSignal): Promise<number[]>;
}

const toldSchema = z.object({
  retryAfterMs: z.number().optional(),
  untilIso: z.iso.datetime().optional(),
});

/** Puts a budget before an embedder and tells the budget what the provider says. */
export function createMeteredEmbedder(
  embedder: Embedder,
  budget: EmbeddingBudget,
  nowMs: () => number,
): MeteredEmbedder {
  const identity = { name: embedder.name, secret: null };
  const notePause = async (error: unknown) => {
    const pause = readPause(error, nowMs());
    if (pause !== null) await budget.pause(pause.until, pause.reason);
    return pause;
  };
  return {
    async embedPart(items, signal) {
      if (items.length === 0) {
        return { vectors: [], waitMs: 0, pausedUntil: null, pauseReason: null };
      }
      const wanted = Math.min(items.length, embedder.maxBatchItems);
      const { grantedItems, ...rest } = await budget.take(wanted, "documents");
      if (grantedItems === 0) return { vectors: [], ...rest };
      try {
        const vectors = await embedder.embedDocuments(items.slice(0, grantedItems), signal);
        return { vectors, ...rest };
      } catch (error) {
        const pause = await notePause(error);
        if (pause === null) throw error;
        const waitMs = Math.max(0, pause.until.getTime() - nowMs());
        return { vectors: [], waitMs, pausedUntil: pause.until, pauseReason: pause.reason };
      }
    },
    async embedQuery(text, signal) {
      const grant = await budget.take(1, "query");
      if (grant.grantedItems === 0) throw toLimitError(identity, grant, nowMs());
      try {
        return await embedder.embedQuery(text, signal);
      } catch (error) {
        await notePause(error);
        throw error;
      }
    },
  };
}

function toLimitError(
  identity: { readonly name: string; readonly secret: null },
  { waitMs, pausedUntil, pauseReason }: EmbeddingGrant,
  nowMs: number,
): SwarmError {
  return pauseReason === "quota_exhausted" && pausedUntil !== null
    ? createQuotaError(identity, pausedUntil, nowMs)
    : createRateLimitError(identity, waitMs);
}

/** What a provider's refusal says about the time to come; null when it is another failure. */
function readPause(
  error: unknown,
  nowMs: number,
): { readonly until: Date; readonly reason: PauseReason } | null {
  if (!(error instanceof SwarmError)) return null;
  const { retryAfterMs, untilIso } = toldSchema.safeParse(error.details).data ?? {};
  if (error.code === "EMBEDDER_RATE_LIMITED" && retryAfterMs !== undefined) {
    return { until: new Date(nowMs + retryAfterMs), reason: "rate_limited" };
  }
  if (error.code === "EMBEDDER_QUOTA_EXHAUSTED" && untilIso !== undefined) {
    return { until: new Date(untilIso), reason: "quota_exhausted" };
  }
  return null;
}
