import type { Config } from "../config/env.ts";
import { createCpuMeter } from "../isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../isolate/lifetime.ts";

/** Creates the lifetime of a worker's isolate from the platform's limits. */
export function createIsolateLifetime(
  { cpu, worker: { wallClockSeconds } }: Pick<Config, "cpu" | "worker">,
): Lifetime {
  if (cpu === null) return createLifetime(wallClockSeconds);
  return createLifetime(wallClockSeconds, { ...cpu, meter: createCpuMeter() });
}
