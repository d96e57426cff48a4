import { SwarmError } from "../errors/swarm_error.ts";

/** A lost connection may never deliver a pending answer; no query waits longer than this. */
const ANSWER_TIMEOUT_MS = 15_000;

/**
 * Awaits the answer of a query. A lost answer must not block a task, because its lease would be
 * renewed for as long as it waits. Only for the platform's own queries, which are all short.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE` after 15 seconds; errors of the query.
 */
export async function answerInTime<T>(query: PromiseLike<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new SwarmError("DATABASE_UNAVAILABLE", "Cannot reach the database: it does not respond", {
          hint: "Try again in a few seconds.",
          details: { reason: "ANSWER_TIMEOUT" },
        }),
      );
    }, ANSWER_TIMEOUT_MS);
  });
  try {
    return await Promise.race([query, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
