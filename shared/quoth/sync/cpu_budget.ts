import type { Clock } from "../../isolate/clock.ts";

/** The CPU time that an invocation may still use. */
export interface CpuBudget {
  /** Runs work that computes and does not wait, and counts its time. */
  spend<T>(work: () => Promise<T>): Promise<T>;
  /** Counts time that was not measured. */
  charge(durationMs: number): void;
  isSpent(): boolean;
}

/** What a file costs beside its splitting: requests, hashes, JSON. An estimate. */
const OVERHEAD_MS = 8;

/**
 * Makes a budget. The hosted platform ends an invocation after two seconds of CPU time and tells
 * nobody how much has been used, so the time of what computes is measured instead.
 *
 * @param isOpen False ends the budget early, as when the isolate is about to end.
 */
export function createCpuBudget(
  limitMs: number,
  clock: Clock,
  isOpen: () => boolean = () => true,
): CpuBudget {
  let spentMs = 0;
  return {
    async spend(work) {
      const startedAtMs = clock.nowMs();
      try {
        return await work();
      } finally {
        spentMs += clock.nowMs() - startedAtMs + OVERHEAD_MS;
      }
    },
    charge: (durationMs) => {
      spentMs += durationMs;
    },
    isSpent: () => spentMs >= limitMs || !isOpen(),
  };
}
