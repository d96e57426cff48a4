import type { Config } from "../config/env.ts";
import { type CpuMeter, createCpuMeter } from "../isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../isolate/lifetime.ts";

/** The lifetime of a worker's isolate. */
export interface IsolateLifetime {
  readonly lifetime: Lifetime;
  /** Undefined without a limit on CPU time. */
  readonly meter: CpuMeter | undefined;
}

/** Creates the lifetime of a worker's isolate from the platform's limits. */
export function createIsolateLifetime(
  { cpu, worker: { wallClockSeconds } }: Pick<Config, "cpu" | "worker">,
): IsolateLifetime {
  if (cpu === null) return { lifetime: createLifetime(wallClockSeconds), meter: undefined };
  const meter = createCpuMeter();
  return { lifetime: createLifetime(wallClockSeconds, { ...cpu, meter }), meter };
}
