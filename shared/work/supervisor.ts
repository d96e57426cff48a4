import type { Logger } from "../log/logger.ts";

/** A worker, as who starts and wakes it knows it. */
export interface Worker {
  readonly id: string;
  /**
   * Looks for work, and for cancellations, at once.
   *
   * @returns false when this worker claims no more, and another has to be woken.
   */
  wake(): boolean;
  /** Works until it is idle or its time is up. Never throws. */
  run(): Promise<void>;
  /** The platform is about to end the isolate: hands back what runs. */
  unload(): Promise<void>;
}

/** What a supervisor needs. */
export interface SupervisorOptions {
  readonly createWorker: () => Worker;
  /** Keeps the isolate alive until the promise settles. */
  readonly runInBackground: (work: Promise<void>) => void;
  /** Whether a new worker would still have time to claim. */
  readonly isOpen: () => boolean;
  readonly log: Logger;
}

/** Keeps at most one worker running in this isolate. */
export interface Supervisor {
  /**
   * Makes a worker look for work: the running one at once, or a new one.
   *
   * @returns the worker's id.
   */
  wake(): string;
  /** The isolate is about to end. */
  unload(): Promise<void>;
}

/** Makes the supervisor of an isolate. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { createWorker, runInBackground, isOpen, log } = options;
  let current: Worker | null = null;
  let isWakeOwed = false;

  return {
    wake() {
      if (current === null) return start().id;
      // A worker that has stopped claiming takes no wake: its successor here does, or, when this
      // isolate's time is up, the one in the next isolate.
      if (!current.wake()) isWakeOwed = true;
      return current.id;
    },
    async unload() {
      isWakeOwed = false;
      await current?.unload();
    },
  };

  function start(): Worker {
    const worker = createWorker();
    current = worker;
    runInBackground(runToEnd(worker));
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
    const isDue = isWakeOwed && isOpen();
    isWakeOwed = false;
    if (isDue) start();
  }
}
