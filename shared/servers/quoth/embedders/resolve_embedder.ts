import { z } from "../../../vendor/zod.js";
import type { Sql } from "../../../platform/db/sql_client.ts";
import { toSwarmError } from "../../../platform/db/to_swarm_error.ts";
import { createEmbedder, type EmbedderPorts } from "./create_embedder.ts";
import { embedderConfigSchema } from "./embedder_config.ts";
import type { Embedder } from "./embedder_port.ts";
import { createMeteredEmbedder, type MeteredEmbedder } from "./metered_embedder.ts";
import type { EmbeddingBudget, EmbeddingPause } from "./embedding_budget_port.ts";

/** An embedder in two forms: without and with its limits. */
export interface ResolvedEmbedder {
  /** Sends everything immediately; the caller must respect the limits. */
  readonly embedder: Embedder;
  /** The form that sync and search use. */
  readonly metered: MeteredEmbedder;
}

/**
 * Finds an embedder by the name in a project or a vector. The key is read each time.
 *
 * @throws SwarmError EMBEDDER_NOT_FOUND, EMBEDDER_KEY_MISSING, DATABASE_UNAVAILABLE.
 */
export type ResolveEmbedder = (name: string) => Promise<ResolvedEmbedder>;

const rowsSchema = z.tuple([embedderConfigSchema]);

/** Resolves embedders in the database. */
export function createEmbedderResolver(sql: Sql, ports: EmbedderPorts): ResolveEmbedder {
  return async (name) => {
    try {
      const rows = await sql`select * from private.resolve_embedder(${name})`;
      const [config] = rowsSchema.parse([...rows]);
      const embedder = createEmbedder(config, ports);
      const budget = createEmbeddingBudget(sql, config);
      return { embedder, metered: createMeteredEmbedder(embedder, budget, ports.transport.nowMs) };
    } catch (error) {
      throw toSwarmError(error, "find the embedder");
    }
  };
}

const grantsSchema = z.tuple([z.object({
  granted: z.int(),
  wait_ms: z.coerce.number(),
  paused_until: z.date().nullable(),
  pause_reason: z.enum(["rate_limited", "quota_exhausted", "refused"]).nullable(),
  pause_message: z.string().nullable(),
})]);
type Grant = z.infer<typeof grantsSchema>[0];

/**
 * The limits of an embedder, counted in the database. Each call is its own transaction, so that
 * instances wait for each other only for the duration of a statement.
 */
function createEmbeddingBudget(
  sql: Sql,
  { name }: { readonly name: string },
): EmbeddingBudget {
  return {
    async take(items, kind) {
      try {
        const rows = await sql`
          select granted, wait_ms, paused_until, pause_reason, pause_message
          from private.take_embedding_tokens(
            p_embedder => ${name},
            p_items => ${items}::int,
            p_is_query => ${kind === "query"}
          )`;
        const [grant] = grantsSchema.parse([...rows]);
        return { grantedItems: grant.granted, waitMs: grant.wait_ms, pause: toPause(grant) };
      } catch (error) {
        throw toSwarmError(error, "reserve part of the embedder's limit");
      }
    },
    async pause(pause) {
      const message = pause.reason === "refused" ? pause.message : null;
      try {
        await sql`
          select private.pause_embedder(
            p_embedder => ${name},
            p_until => ${pause.until},
            p_reason => ${pause.reason},
            p_message => ${message}
          )`;
      } catch (error) {
        throw toSwarmError(error, "record the embedder's pause");
      }
    },
  };
}

function toPause({ paused_until, pause_reason, pause_message }: Grant): EmbeddingPause | null {
  if (paused_until === null || pause_reason === null) return null;
  return pause_reason === "refused"
    ? { reason: pause_reason, until: paused_until, message: pause_message ?? "" }
    : { reason: pause_reason, until: paused_until };
}
