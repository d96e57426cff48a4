import type { Clock } from "../../../platform/isolate/clock.ts";

/** The CPU time that a turn of a sync may still use. */
export interface CpuBudget {
  /** Runs synchronous work and counts its time. */
  spend<T>(work: () => Promise<T>): Promise<T>;
  /** Counts time that was not measured. */
  charge(durationMs: number): void;
  isSpent(): boolean;
}

/** The estimated cost of a file besides splitting: requests, hashes, JSON. */
const OVERHEAD_MS = 8;

interface CpuBudgetOptions {
  readonly limitMs: number;
  readonly clock: Clock;
  /** False ends the budget early, for example when the worker's time is up. */
  readonly isOpen: () => boolean;
}

/**
 * Creates a budget. The edge runtime does not report CPU time, so the duration of synchronous work
 * is measured instead.
 */
export function createCpuBudget({ limitMs, clock, isOpen }: CpuBudgetOptions): CpuBudget {
  let spentMs = 0;
  const charge = (durationMs: number) => {
    spentMs += durationMs;
  };
  return {
    async spend(work) {
      const startedAtMs = clock.nowMs();
      try {
        return await work();
      } finally {
        charge(clock.nowMs() - startedAtMs + OVERHEAD_MS);
      }
    },
    charge,
    isSpent: () => spentMs >= limitMs || !isOpen(),
  };
}
