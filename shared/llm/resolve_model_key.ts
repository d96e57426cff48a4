import { z } from "../vendor/zod.js";
import { CLOSED_SETS } from "../platform/db/closed_sets.ts";
import { answerInTime } from "../platform/db/answer_in_time.ts";
import type { Sql } from "../platform/db/sql_client.ts";
import { toSwarmError } from "../platform/db/to_swarm_error.ts";

/** A key for one model call, and its owner. */
export interface ModelKey {
  /** Null if the provider requires none. */
  readonly secret: string | null;
  readonly keySource: (typeof CLOSED_SETS.usage_events.key_source)[number];
  /**
   * The reservation for the call's estimated cost; absent without a spending cap. Booked with the
   * call.
   */
  readonly reservationId?: string;
  /** Releases the reservation of a call that its provider did not answer. Never throws. */
  readonly release?: () => Promise<void>;
}

/** The request for a key. */
export interface ModelKeyQuery {
  readonly providerId: string;
  /** Null for the service itself. */
  readonly userId: string | null;
  readonly model: string;
  /** The estimated usage of the call; null if unknown. */
  readonly inputTokens: number;
  readonly outputTokens: number | null;
}

/**
 * Finds the key for a call, checks that the call is allowed, and reserves it under a spending cap.
 *
 * @throws SwarmError MODEL_KEY_MISSING, MODEL_POLICY_DENIED, PRICE_UNKNOWN, SPENDING_CAP_REACHED,
 * PROVIDER_NOT_FOUND,
 * DATABASE_UNAVAILABLE.
 */
export type ResolveModelKey = (query: ModelKeyQuery) => Promise<ModelKey>;

const rowsSchema = z.tuple([z.object({
  secret: z.string().nullable(),
  key_source: z.enum(CLOSED_SETS.usage_events.key_source),
  reservation_id: z.string().nullable(),
})]);

/** Resolves keys in the database: policies, the user's own key, then the organisation's. */
export function createModelKeyResolver(sql: Sql): ResolveModelKey {
  return async ({ providerId, userId, model, inputTokens, outputTokens }) => {
    try {
      const rows = await answerInTime(sql`
        select secret, key_source, reservation_id
        from private.resolve_provider_secret(
          ${providerId}, ${userId}, ${model}, ${inputTokens}, ${outputTokens}
        )`);
      const [{ secret, key_source, reservation_id }] = rowsSchema.parse([...rows]);
      const key = { secret, keySource: key_source };
      return reservation_id === null
        ? key
        : { ...key, reservationId: reservation_id, release: () => release(sql, reservation_id) };
    } catch (error) {
      throw toSwarmError(error, "find the model's key");
    }
  };
}

/** A reservation that is not released here expires. */
async function release(sql: Sql, reservationId: string): Promise<void> {
  await answerInTime(sql`select private.release_spending(${reservationId})`).catch(() => {});
}
