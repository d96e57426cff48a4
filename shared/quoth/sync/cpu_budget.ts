import type { Clock } from "../../isolate/clock.ts";

/** The CPU time that a turn of a sync may still use. */
export interface CpuBudget {
  /** Runs work that computes and does not wait, and counts its time. */
  spend<T>(work: () => Promise<T>): Promise<T>;
  /** Counts time that was not measured. */
  charge(durationMs: number): void;
  isSpent(): boolean;
}

/** What a file costs beside its splitting: requests, hashes, JSON. An estimate. */
const OVERHEAD_MS = 8;

/** How a budget is made. */
export interface CpuBudgetOptions {
  readonly limitMs: number;
  readonly clock: Clock;
  /** False ends the budget early, as when the worker's time is up. */
  readonly isOpen: () => boolean;
  /** Hears of each amount. */
  readonly onSpend?: ((durationMs: number) => void) | undefined;
}

/**
 * Makes a budget. The edge runtime does not say how much CPU time has been used, so the time of what
 * computes is measured instead.
 */
export function createCpuBudget(
  { limitMs, clock, isOpen, onSpend }: CpuBudgetOptions,
): CpuBudget {
  let spentMs = 0;
  const charge = (durationMs: number) => {
    spentMs += durationMs;
    onSpend?.(durationMs);
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
