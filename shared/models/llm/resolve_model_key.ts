import { z } from "../../vendor/zod.js";
import { CLOSED_SETS } from "../../platform/db/closed_sets.ts";
import { answerInTime } from "../../platform/db/answer_in_time.ts";
import type { Sql } from "../../platform/db/sql_client.ts";
import { toSwarmError } from "../../platform/db/to_swarm_error.ts";
import { workPaused, workPauseSchema } from "../../platform/errors/work_paused.ts";
import { sleep } from "../../platform/values/sleep.ts";

/** A key for one model call, and its owner. */
export interface ModelKey {
  /** Null if the provider requires none. */
  readonly secret: string | null;
  readonly keySource: (typeof CLOSED_SETS.usage_events.key_source)[number];
  /**
   * The reservation for the call's estimated cost; absent without a cap on spending or on the job's
   * cost. Booked with the call.
   */
  readonly reservationId?: string;
  /** The output that the reservation covers; absent without a cap on the job's cost. */
  readonly maxOutputTokens?: number;
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
  /** The task whose job pays; null outside tasks. */
  readonly taskId: string | null;
  readonly signal: AbortSignal;
}

/**
 * Finds the key for a call, checks that the call is allowed, and reserves its cost under the spending
 * cap of a policy and the cost cap of the task's job. While running calls of the job hold what the
 * call needs, it waits for them, for up to half a minute.
 *
 * @throws SwarmError MODEL_KEY_MISSING, MODEL_POLICY_DENIED, PRICE_UNKNOWN, SPENDING_CAP_REACHED,
 * PROVIDER_NOT_FOUND, BUDGET_EXCEEDED, WORK_PAUSED, DATABASE_UNAVAILABLE; the reason of an aborted signal.
 */
export type ResolveModelKey = (query: ModelKeyQuery) => Promise<ModelKey>;

const rowsSchema = z.tuple([z.object({
  secret: z.string().nullable(),
  key_source: z.enum(CLOSED_SETS.usage_events.key_source),
  reservation_id: z.string().nullable(),
  // The database client returns a bigint as text.
  max_output_tokens: z.coerce.number().nullable(),
  must_wait: z.boolean(),
  pause: workPauseSchema.nullable(),
})]);

const LOOK_AGAIN_MS = 250;
const MAX_LOOKS = 120;

/** Resolves keys in the database: policies, the user's own key, then the organization's. */
export function createModelKeyResolver(sql: Sql): ResolveModelKey {
  return async (query) => {
    for (let looks = 1;; looks++) {
      const found = await look(sql, query, looks < MAX_LOOKS);
      if (found.pause !== null) throw workPaused("call the model", found.pause);
      if (!found.must_wait) return toKey(sql, found);
      await sleep(LOOK_AGAIN_MS, query.signal);
      query.signal.throwIfAborted();
    }
  };
}

type FoundKey = z.infer<typeof rowsSchema>[0];

async function look(
  sql: Sql,
  { providerId, userId, model, inputTokens, outputTokens, taskId }: ModelKeyQuery,
  mayWait: boolean,
): Promise<FoundKey> {
  try {
    const rows = await answerInTime(sql`
      select secret, key_source, reservation_id, max_output_tokens, must_wait, pause
      from private.resolve_provider_secret(
        p_provider_id => ${providerId},
        p_user_id => ${userId},
        p_model => ${model},
        p_input_tokens => ${inputTokens},
        p_output_tokens => ${outputTokens},
        p_task_id => ${taskId},
        p_may_wait => ${mayWait}
      )`);
    return rowsSchema.parse([...rows])[0];
  } catch (error) {
    throw toSwarmError(error, "find the model's key");
  }
}

function toKey(sql: Sql, found: FoundKey): ModelKey {
  const { secret, key_source, reservation_id: reservationId, max_output_tokens: max } = found;
  return {
    secret,
    keySource: key_source,
    ...(reservationId === null
      ? {}
      : { reservationId, release: () => release(sql, reservationId) }),
    ...(max === null ? {} : { maxOutputTokens: max }),
  };
}

/** A reservation that is not released here expires. */
async function release(sql: Sql, reservationId: string): Promise<void> {
  await answerInTime(sql`select private.release_spending(${reservationId})`).catch(() => {});
}
