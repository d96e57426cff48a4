import type { Config } from "../platform/config/env.ts";
import { isolateClock } from "../platform/isolate/clock.ts";
import { createCpuMeter } from "../platform/isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../platform/isolate/lifetime.ts";
import { runInBackground } from "../platform/isolate/run_in_background.ts";
import type { Logger } from "../platform/log/logger.ts";
import { createSupervisor, type Supervisor, type Worker } from "../engine/work/supervisor.ts";

/** The workers of an isolate. */
interface IsolateWorkers {
  readonly config: Pick<Config, "cpu" | "worker">;
  readonly log: Logger;
  readonly createWorker: (id: string, lifetime: Lifetime) => Worker;
  /** Called when a worker has ended, before the isolate may end. @default nothing */
  readonly afterRun?: () => Promise<void>;
}

/** The supervisor of an isolate, or of a process. */
export interface IsolateSupervisor extends Supervisor {
  /**
   * Ends the worker for good: running work ends after its current step, and what still runs after
   * `graceMs` is returned.
   */
  drain(graceMs: number): Promise<void>;
}

/** Creates the supervisor of this isolate's workers, which share the limits of the platform. */
export function createIsolateSupervisor(
  { config: { cpu, worker }, log, createWorker, afterRun }: IsolateWorkers,
): IsolateSupervisor {
  const lifetime = createLifetime(
    worker.wallClockSeconds,
    cpu === null ? undefined : { ...cpu, meter: createCpuMeter() },
  );
  const supervisor = createSupervisor({
    createWorker: () => createWorker(crypto.randomUUID(), lifetime),
    runInBackground: (work) => runInBackground(work.finally(afterRun)),
    noteRequest: () => lifetime.noteRequest(isolateClock.nowMs()),
    isOpen: () => lifetime.phaseAt(isolateClock.nowMs()) === "open",
    log,
  });
  return Object.assign(supervisor, {
    async drain(graceMs: number) {
      lifetime.endAt(isolateClock.nowMs() + graceMs);
      if (supervisor.freeSlots !== null) supervisor.wake();
      await supervisor.idle();
    },
  });
}
