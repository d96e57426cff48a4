import type { Logger } from "../../log/logger.ts";

/** Keeps at most one drain running in an isolate. */
export interface SyncDrainer {
  /** Makes somebody look for work. */
  wake(): void;
}

/** Makes the drainer of an isolate. */
export function createSyncDrainer(options: {
  readonly drain: () => Promise<number>;
  /** Keeps the isolate alive until the promise settles. */
  readonly runInBackground: (work: Promise<void>) => void;
  readonly log: Logger;
}): SyncDrainer {
  const { drain, runInBackground, log } = options;
  let isRunning = false;
  let isWakeOwed = false;

  return {
    wake() {
      isWakeOwed = true;
      if (!isRunning) runInBackground(runToEnd());
    },
  };

  async function runToEnd(): Promise<void> {
    isRunning = true;
    try {
      while (isWakeOwed) {
        isWakeOwed = false;
        await drain();
      }
    } catch (error) {
      const name = error instanceof Error ? error.name : "unknown";
      log("error", "quoth.drain_failed", { error: name });
    } finally {
      isRunning = false;
    }
  }
}
