import { createCpuMeter } from "../../shared/platform/isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../../shared/platform/isolate/lifetime.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import type { Worker } from "../../shared/engine/work/supervisor.ts";

/** The platform's CPU limits, which are the defaults of the settings. */
const CPU_LIMITS = { softMs: 1_000, hardMs: 2_000 };

/** Workers in one process, as the platform runs isolates with its CPU limits. */
export interface WorkerIsolates {
  /** Sends a request to the current isolate, or to a new one if that one is retired. */
  wake(): void;
  /** Returns the work of all isolates, and resolves when they have ended. */
  unload(): Promise<void>;
}

/**
 * Runs one worker at a time, each with a lifetime of its own; a retired one finishes its work beside
 * its successor. All of them count the CPU of the process.
 */
export function startWorkerIsolates(
  wallClockSeconds: number,
  createWorker: (lifetime: Lifetime) => Worker,
): WorkerIsolates {
  const alive = new Set<{ readonly worker: Worker; readonly ended: Promise<void> }>();
  let current: { readonly worker: Worker; readonly lifetime: Lifetime } | null = null;

  function start(): void {
    const lifetime = createLifetime(wallClockSeconds, { ...CPU_LIMITS, meter: createCpuMeter() });
    const isolate = { worker: createWorker(lifetime), lifetime };
    current = isolate;
    const ended = isolate.worker.run().finally(() => {
      alive.delete(entry);
      if (current === isolate) current = null;
    });
    const entry = { worker: isolate.worker, ended };
    alive.add(entry);
  }

  return {
    wake() {
      const isOpen = current?.lifetime.phaseAt(isolateClock.nowMs()) === "open";
      if (current === null || !isOpen) start();
      else current.worker.wake();
    },
    async unload() {
      const all = [...alive];
      await Promise.all(all.map(({ worker }) => worker.unload()));
      await Promise.all(all.map(({ ended }) => ended));
    },
  };
}
