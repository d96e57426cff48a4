import { z } from "zod";
import type { Sql } from "../../db/sql_client.ts";
import { toSwarmError } from "../../db/to_swarm_error.ts";
import type { EmbeddingBudget } from "./embedding_budget_port.ts";

const grantsSchema = z.tuple([z.object({
  granted: z.int(),
  wait_ms: z.coerce.number(),
  paused_until: z.date().nullable(),
  pause_reason: z.enum(["rate_limited", "quota_exhausted"]).nullable(),
})]);

/**
 * The limits of an embedder as the database counts them. Each call is a transaction of its own, so
 * that instances wait for each other no longer than a statement takes.
 */
export function createEmbeddingBudget(
  sql: Sql,
  { name }: { readonly name: string },
): EmbeddingBudget {
  return {
    async take(items, kind) {
      try {
        const rows = await sql`
          select granted, wait_ms, paused_until, pause_reason
          from private.take_embedding_tokens(${name}, ${items}::int, ${kind === "query"})`;
        const [grant] = grantsSchema.parse([...rows]);
        return {
          grantedItems: grant.granted,
          waitMs: grant.wait_ms,
          pausedUntil: grant.paused_until,
          pauseReason: grant.pause_reason,
        };
      } catch (error) {
        throw toSwarmError(error, "take of the embedder's limit");
      }
    },
    async pause(until, reason) {
      try {
        await sql`select private.pause_embedder(${name}, ${until}, ${reason})`;
      } catch (error) {
        throw toSwarmError(error, "note the embedder's pause");
      }
    },
  };
}
