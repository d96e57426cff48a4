import { SwarmError } from "../errors/swarm_error.ts";

/** A connection that dies may take its pending answer along; nothing waits longer than this. */
const ANSWER_TIMEOUT_MS = 15_000;

/**
 * The answer of a query. One that never comes must not hold a task: its lease would be renewed for
 * as long as it waits. For queries of the platform's own, all of which are short.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE` after 15 seconds; what the query throws.
 */
export async function answerInTime<T>(query: PromiseLike<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new SwarmError("DATABASE_UNAVAILABLE", "Cannot reach the database: it does not answer", {
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
