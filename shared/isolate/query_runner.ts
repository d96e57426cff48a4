import type { z } from "../vendor/zod.js";
import { answerInTime } from "../db/answer_in_time.ts";
import { toSwarmError } from "../db/to_swarm_error.ts";
import { SwarmError } from "../errors/swarm_error.ts";
import type { Clock } from "./clock.ts";

/** A query that runs only when it is called, so that it can be run again. */
export type Query = () => PromiseLike<readonly unknown[]>;

/** Runs a query, checks its rows, and puts a failure into words: "cannot" + `action`. */
export type RunQuery = <T>(action: string, row: z.ZodType<T>, query: Query) => Promise<T[]>;

/** How long a query is waited for, and tried again. */
export interface QueryRunnerOptions {
  /** Patience ends with the lease: after that, what was to be written may no longer be. */
  readonly leaseSeconds: number;
  readonly clock: Clock;
  /** Hears of each query. */
  readonly onQuery?: () => void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/**
 * Makes two ways of running a query: `once`, and `withRetries`, which repeats it while the database
 * does not answer. Only what may be run twice may be run withRetries: writes under a lease are, as
 * a repeated one finds its work done or its lease gone.
 *
 * @throws DATABASE_UNAVAILABLE from `once` at the first failure, from `withRetries` at the last.
 */
export function createQueryRunner(
  { leaseSeconds, clock, onQuery }: QueryRunnerOptions,
): { readonly once: RunQuery; readonly withRetries: RunQuery } {
  const once: RunQuery = async (action, row, query) => {
    onQuery?.();
    try {
      return row.array().parse([...await answerInTime(query())]);
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
