import { z } from "../../../vendor/zod.js";
import { SwarmError } from "../../../platform/errors/swarm_error.ts";
import {
  createQuotaError,
  createRateLimitError,
  createRefusedError,
  mayBeCausedByText,
} from "./embedder_error.ts";
import type { EmbeddedDocument, Embedder } from "./embedder_port.ts";
import type { EmbeddingBudget, EmbeddingGrant, EmbeddingPause } from "./embedding_budget_port.ts";

/** Pause of an embedder that rejects everything, because an operator must fix it. */
const REFUSED_PAUSE_MS = 15 * 60_000;

/** A probe text that shows whether an embedder rejects one text or all texts. */
const HARMLESS: EmbeddedDocument = { title: "Weather", text: "The sun shines on the harbour." };

/** The result for a list of documents. */
export interface EmbeddedPart {
  /** Vectors of the first documents of the list; fewer than documents if the limit was reached. */
  readonly vectors: readonly number[][];
  /** Why and how long the rest must wait (`retryAfterSeconds`); null if it need not wait. */
  readonly wait: SwarmError | null;
}

/** An embedder that respects its limits across all instances. */
export interface MeteredEmbedder {
  /**
   * Embeds as many of the first documents as one request and the limits allow. A rate-limited or
   * failing provider is not an error here: the result is empty and says how long to wait.
   *
   * @throws SwarmError as documented for `Embedder`, except for waits. A single document is
   * rejected only if another one is accepted.
   */
  embedPart(items: readonly EmbeddedDocument[], signal: AbortSignal): Promise<EmbeddedPart>;
  /**
   * Embeds a query from the capacity reserved for queries.
   *
   * @throws SwarmError as documented for `Embedder`; also for a wait before anything was sent.
   */
  embedQuery(text: string, signal: AbortSignal): Promise<number[]>;
}

const toldSchema = z.object({
  retryAfterMs: z.number().optional(),
  untilIso: z.iso.datetime().optional(),
});

/** Adds a budget to an embedder and updates it from the provider's responses. */
export function createMeteredEmbedder(
  embedder: Embedder,
  budget: EmbeddingBudget,
  nowMs: () => number,
): MeteredEmbedder {
  const identity = { name: embedder.name, secret: null };
  const notePause = async (error: unknown): Promise<SwarmError | null> => {
    const pause = readPause(error, nowMs());
    if (pause === null) return null;
    await budget.pause(pause);
    return toPauseError(identity, pause, nowMs());
  };
  return {
    async embedPart(items, signal) {
      if (items.length === 0) return { vectors: [], wait: null };
      const wanted = Math.min(items.length, embedder.maxBatchItems);
      const grant = await budget.take(wanted, "documents");
      const wait = grant.waitMs > 0 ? toWait(identity, grant, nowMs()) : null;
      if (grant.grantedItems === 0) return { vectors: [], wait };
      try {
        const first = items.slice(0, grant.grantedItems);
        return { vectors: await embedder.embedDocuments(first, signal), wait };
      } catch (error) {
        const cause = items.length === 1 ? await findCause(error, signal) : error;
        const pause = await notePause(cause);
        if (pause === null) throw cause;
        return { vectors: [], wait: pause };
      }
    },
    async embedQuery(text, signal) {
      const grant = await budget.take(1, "query");
      if (grant.grantedItems === 0) throw toWait(identity, grant, nowMs());
      try {
        return await embedder.embedQuery(text, signal);
      } catch (error) {
        throw await notePause(error) ?? error;
      }
    },
  };

  /** Finds out whether a rejected single document is the problem, or everything. */
  async function findCause(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (!(error instanceof SwarmError) || !mayBeCausedByText(error)) return error;
    // Without capacity for a probe, the document is assumed to be the problem; it is tried several
    // times.
    if ((await budget.take(1, "documents")).grantedItems === 0) return error;
    try {
      await embedder.embedDocuments([HARMLESS], signal);
      return new SwarmError("EMBEDDER_TEXT_REFUSED", error.message, { cause: error });
    } catch (general) {
      if (!(general instanceof SwarmError) || !mayBeCausedByText(general)) return general;
      return new SwarmError("EMBEDDER_REFUSED", general.message, { cause: general });
    }
  }
}

type Identity = Parameters<typeof createRateLimitError>[0];

function toWait(identity: Identity, { waitMs, pause }: EmbeddingGrant, nowMs: number): SwarmError {
  return pause === null
    ? createRateLimitError(identity, waitMs)
    : toPauseError(identity, pause, nowMs);
}

function toPauseError(identity: Identity, pause: EmbeddingPause, nowMs: number): SwarmError {
  switch (pause.reason) {
    case "rate_limited":
      return createRateLimitError(identity, Math.max(0, pause.until.getTime() - nowMs));
    case "quota_exhausted":
      return createQuotaError(identity, pause.until, nowMs);
    case "refused":
      return createRefusedError(identity, pause, nowMs);
  }
}

/** The pause that a failure implies; null if none. */
function readPause(error: unknown, nowMs: number): EmbeddingPause | null {
  if (!(error instanceof SwarmError)) return null;
  const { retryAfterMs, untilIso } = toldSchema.safeParse(error.details).data ?? {};
  if (error.code === "EMBEDDER_RATE_LIMITED" && retryAfterMs !== undefined) {
    return { reason: "rate_limited", until: new Date(nowMs + retryAfterMs) };
  }
  if (error.code === "EMBEDDER_QUOTA_EXHAUSTED" && untilIso !== undefined) {
    return { reason: "quota_exhausted", until: new Date(untilIso) };
  }
  // The text itself may be the problem: one user's query must not block everyone's searches.
  if (error.code === "EMBEDDER_REFUSED" && !mayBeCausedByText(error)) {
    const until = new Date(nowMs + REFUSED_PAUSE_MS);
    return { reason: "refused", until, message: error.message };
  }
  return null;
}
