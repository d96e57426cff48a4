import { percentile } from "./bench_result.ts";

/** Enough for every connection of a pool to have cached plans. */
const WARM_UP_TASKS = 50;

/** The number of tasks that {@linkcode measureSerially} measures. */
export const SERIAL_TASKS = 60;

/**
 * Measures one task at a time on a warm worker, with random pauses of 20 to 50 ms between them.
 *
 * @param pickUp Returns the milliseconds from before a task's creation until its worker starts it.
 */
export async function measureSerially(
  pickUp: () => Promise<number>,
): Promise<Record<string, number>> {
  for (let n = 0; n < WARM_UP_TASKS; n++) await pickUp();
  const times: number[] = [];
  for (let n = 0; n < SERIAL_TASKS; n++) {
    await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 30));
    times.push(await pickUp());
  }
  return {
    p50_ms: percentile(times, 0.5),
    p95_ms: percentile(times, 0.95),
    p99_ms: percentile(times, 0.99),
  };
}

/** Reads the machine's clock, which the database and every worker share. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
