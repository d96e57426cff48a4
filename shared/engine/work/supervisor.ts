import type { Logger } from "../../platform/log/logger.ts";

/** A worker, as seen by its supervisor. */
export interface Worker {
  readonly id: string;
  /** How much more work it would claim now. */
  readonly freeSlots: number;
  /**
   * Polls for work and cancellations immediately.
   *
   * @returns false if this worker claims no more and another must be woken.
   */
  wake(): boolean;
  /** Works until it is idle or its time is up. Never throws. */
  run(): Promise<void>;
  /** Called before the platform ends the isolate: returns running work. */
  unload(): Promise<void>;
}

/** The dependencies of a supervisor. */
export interface SupervisorOptions {
  readonly createWorker: () => Worker;
  /** Keeps the isolate alive until the promise settles. */
  readonly runInBackground: (work: Promise<void>) => void;
  /** Notes a request that starts a worker: it shows that the isolate is not retired. */
  readonly noteRequest: () => void;
  /** Whether a new worker would have time to claim. */
  readonly isOpen: () => boolean;
  readonly log: Logger;
}

/** Keeps at most one worker running in this isolate. */
export interface Supervisor {
  /**
   * Makes a worker poll for work: the running one immediately, or a new one.
   *
   * @returns the worker's id.
   */
  wake(): string;
  /** How much more work the running worker would claim now; null if none runs. */
  readonly freeSlots: number | null;
  /** Resolves when no worker runs. */
  idle(): Promise<void>;
  /** The isolate is about to end. */
  unload(): Promise<void>;
}

/** Creates the supervisor of an isolate. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { createWorker, runInBackground, noteRequest, isOpen, log } = options;
  let current: Worker | null = null;
  let running = Promise.resolve();
  let hasPendingWake = false;

  return {
    wake() {
      if (current === null) {
        noteRequest();
        return start().id;
      }
      // A worker that has stopped claiming ignores wake-ups. Its successor in this isolate handles
      // them, or the worker in the next isolate if this one's time is up.
      if (!current.wake()) hasPendingWake = true;
      return current.id;
    },
    get freeSlots() {
      return current?.freeSlots ?? null;
    },
    idle: () => running,
    async unload() {
      hasPendingWake = false;
      await current?.unload();
    },
  };

  function start(): Worker {
    const worker = createWorker();
    current = worker;
    running = runToEnd(worker);
    runInBackground(running);
    return worker;
  }

  async function runToEnd(worker: Worker): Promise<void> {
    try {
      await worker.run();
    } catch (error) {
      const name = error instanceof Error ? error.name : "unknown";
      log("error", "worker.failed", { worker_id: worker.id, error: name });
    }
    current = null;
    const isDue = hasPendingWake && isOpen();
    hasPendingWake = false;
    if (isDue) start();
  }
}
