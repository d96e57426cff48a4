import type { z } from "../../vendor/zod.js";
import { answerInTime } from "../db/answer_in_time.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { Clock } from "./clock.ts";

/** A query that runs only when it is called, so that it can be repeated. */
export type Query = () => PromiseLike<readonly unknown[]>;

/** Runs a query, validates its rows, and describes a failure as "Cannot" + `action`. */
export type RunQuery = <T>(action: string, row: z.ZodType<T>, query: Query) => Promise<T[]>;

/** Timeouts and retries of a query. */
export interface QueryRunnerOptions {
  /** Retries end with the lease: after that the write is no longer permitted. */
  readonly leaseSeconds: number;
  readonly clock: Clock;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Creates two ways of running a query: `once`, and `withRetries`, which repeats it while the
 * database does not respond. Use withRetries only for repeatable queries: writes under a lease are
 * repeatable, because a repeated one finds its work done or its lease expired.
 *
 * @throws DATABASE_UNAVAILABLE from `once` at the first failure, from `withRetries` at the last.
 */
export function createQueryRunner(
  { leaseSeconds, clock }: QueryRunnerOptions,
): { readonly once: RunQuery; readonly withRetries: RunQuery } {
  const once: RunQuery = async (action, row, query) => {
    try {
      // Not with row.array(), which builds a schema for each query.
      return (await answerInTime(query())).map((answered) => row.parse(answered));
    } catch (error) {
      throw toSwarmError(error, action);
    }
  };

  const withRetries: RunQuery = async (action, row, query) => {
    const giveUpAtMs = clock.nowMs() + leaseSeconds * 1_000;
    for (let pauseMs = FIRST_PAUSE_MS;; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await once(action, row, query);
      } catch (error) {
        const isWorthWaiting = error instanceof SwarmError &&
          error.code === "DATABASE_UNAVAILABLE" && clock.nowMs() + pauseMs < giveUpAtMs;
        if (!isWorthWaiting) throw error;
        await clock.sleep(pauseMs);
      }
    }
  };

  return { once, withRetries };
}
