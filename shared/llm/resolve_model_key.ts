import { z } from "../vendor/zod.js";
import { CLOSED_SETS } from "../db/database.types.ts";
import { answerInTime } from "../db/answer_in_time.ts";
import type { Sql } from "../db/sql_client.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";

/** A key for one model call and whose it is. */
export interface ModelKey {
  /** Null when the provider requires none. */
  readonly secret: string | null;
  readonly keySource: (typeof CLOSED_SETS.usage_events.key_source)[number];
}

/** Which key is asked for. */
export interface ModelKeyQuery {
  readonly providerId: string;
  /** Null: the service itself. */
  readonly userId: string | null;
  readonly model: string;
}

/**
 * Finds the key for a call, and whether the call is allowed at all.
 *
 * @throws SwarmError MODEL_KEY_MISSING, MODEL_POLICY_DENIED, PROVIDER_NOT_FOUND,
 * DATABASE_UNAVAILABLE.
 */
export type ResolveModelKey = (query: ModelKeyQuery) => Promise<ModelKey>;

const rowsSchema = z.tuple([z.object({
  secret: z.string().nullable(),
  key_source: z.enum(CLOSED_SETS.usage_events.key_source),
})]);

/** Resolves keys in the database: policies, the user's own key, then the organisation's. */
export function createModelKeyResolver(sql: Sql): ResolveModelKey {
  return async ({ providerId, userId, model }) => {
    try {
      const rows = await answerInTime(sql`
        select secret, key_source
        from private.resolve_provider_secret(${providerId}, ${userId}, ${model})`);
      const [{ secret, key_source }] = rowsSchema.parse([...rows]);
      return { secret, keySource: key_source };
    } catch (error) {
      throw toSwarmError(error, "find the model's key");
    }
  };
}
