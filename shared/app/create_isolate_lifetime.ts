import type { Config } from "../platform/config/env.ts";
import { createCpuMeter } from "../platform/isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../platform/isolate/lifetime.ts";

/** Creates the lifetime of a worker's isolate from the platform's limits. */
export function createIsolateLifetime(
  { cpu, worker: { wallClockSeconds } }: Pick<Config, "cpu" | "worker">,
): Lifetime {
  if (cpu === null) return createLifetime(wallClockSeconds);
  return createLifetime(wallClockSeconds, { ...cpu, meter: createCpuMeter() });
}
