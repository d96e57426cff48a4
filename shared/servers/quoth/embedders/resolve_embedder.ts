import { z } from "../../../vendor/zod.js";
import type { Sql } from "../../../platform/db/sql_client.ts";
import { toSwarmError } from "../../../platform/db/to_swarm_error.ts";
import { createEmbedder, type EmbedderPorts } from "./create_embedder.ts";
import { embedderConfigSchema } from "./embedder_config.ts";
import type { Embedder } from "./embedder_port.ts";
import { createEmbeddingBudget } from "./embedding_budget.ts";
import { createMeteredEmbedder, type MeteredEmbedder } from "./metered_embedder.ts";

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
