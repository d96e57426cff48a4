import { z } from "../../vendor/zod.js";
import { SwarmError } from "../../errors/swarm_error.ts";
import {
  createQuotaError,
  createRateLimitError,
  createRefusedError,
  isPerhapsTheText,
} from "./embedder_error.ts";
import type { EmbeddedDocument, Embedder } from "./embedder_port.ts";
import type { EmbeddingBudget, EmbeddingGrant, EmbeddingPause } from "./embedding_budget_port.ts";

/** How long an embedder is left alone that refuses everything: somebody has to mend something. */
const REFUSED_PAUSE_MS = 15 * 60_000;

/** Tells an embedder that refuses this text from one that refuses all. */
const HARMLESS: EmbeddedDocument = { title: "Weather", text: "The sun shines on the harbour." };

/** What became of a list of documents. */
export interface EmbeddedPart {
  /** Vectors of the first documents of the list; fewer than documents when there was no room. */
  readonly vectors: readonly number[][];
  /** Why more has to wait, and how long (`retryAfterSeconds`); null when nothing has to. */
  readonly wait: SwarmError | null;
}

/** An embedder that keeps to its limits, together with every other instance. */
export interface MeteredEmbedder {
  /**
   * Embeds as many of the first documents as one request and the limits allow. A provider that
   * answers that it is too early is no error here, nor is one that refuses whatever it is given:
   * the part is empty and says how long to wait.
   *
   * @throws SwarmError as `Embedder` has it, but for what there is to wait for. A single document is
   * refused only where another one is taken.
   */
  embedPart(items: readonly EmbeddedDocument[], signal: AbortSignal): Promise<EmbeddedPart>;
  /**
   * Embeds a query out of what is reserved for queries.
   *
   * @throws SwarmError as `Embedder` has it; what there is to wait for also when nothing was sent.
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

  /** What is wrong when a document is refused that was sent alone: with it, or with everything. */
  async function findCause(error: unknown, signal: AbortSignal): Promise<unknown> {
    if (!(error instanceof SwarmError) || !isPerhapsTheText(error)) return error;
    // Without room to find out the document is blamed; it is tried several times.
    if ((await budget.take(1, "documents")).grantedItems === 0) return error;
    try {
      await embedder.embedDocuments([HARMLESS], signal);
      return new SwarmError("EMBEDDER_TEXT_REFUSED", error.message, { cause: error });
    } catch (general) {
      if (!(general instanceof SwarmError) || !isPerhapsTheText(general)) return general;
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

/** What a failure says about the time to come; null when that is nothing. */
function readPause(error: unknown, nowMs: number): EmbeddingPause | null {
  if (!(error instanceof SwarmError)) return null;
  const { retryAfterMs, untilIso } = toldSchema.safeParse(error.details).data ?? {};
  if (error.code === "EMBEDDER_RATE_LIMITED" && retryAfterMs !== undefined) {
    return { reason: "rate_limited", until: new Date(nowMs + retryAfterMs) };
  }
  if (error.code === "EMBEDDER_QUOTA_EXHAUSTED" && untilIso !== undefined) {
    return { reason: "quota_exhausted", until: new Date(untilIso) };
  }
  // A text may be what is forbidden: nobody's query is to stop everybody's searches.
  if (error.code === "EMBEDDER_REFUSED" && !isPerhapsTheText(error)) {
    const until = new Date(nowMs + REFUSED_PAUSE_MS);
    return { reason: "refused", until, message: error.message };
  }
  return null;
}
