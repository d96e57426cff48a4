import { cpuSeconds } from "../simulation/cpu_seconds.ts";
import type { MemoryDatabase } from "../simulation/memory_database.ts";
import { runWorld } from "../simulation/world.ts";

const SEEDS = 60;
const MAX_CPU_SECONDS = 10;

/** Runs worlds until one notices that the engine is broken. */
export async function firstViolation(database: MemoryDatabase): Promise<string | null> {
  const until = cpuSeconds() + MAX_CPU_SECONDS;
  try {
    for (let seed = 1; seed <= SEEDS && cpuSeconds() < until; seed++) {
      const { violations: [violation] } = await runWorld(database, seed);
      if (violation !== undefined) return `seed ${seed}: ${violation.name}`;
    }
    return null;
  } catch (error) {
    return `fails: ${error instanceof Error ? error.message : error}`;
  }
}
