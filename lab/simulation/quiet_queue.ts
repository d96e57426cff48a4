import type { TaskStore } from "../../shared/engine/worker/task_store.ts";
import { time } from "./virtual_globals.ts";

/** An empty claim is repeated after this time in any case: it also shows that its worker lives. */
const REPEATED_MS = 5_000;

/**
 * Knows when a claim would find nothing: no task can be claimed, and nothing was written since. Most
 * polls are of this kind, and each would take as long as a checkpoint.
 */
export class QuietQueue {
  readonly #readNextDueMs: () => Promise<number>;
  /** Unknown after a write. */
  #nextDueMs: number | null = null;

  /** @param readNextDueMs When the next task can be claimed, or could have been. */
  constructor(readNextDueMs: () => Promise<number>) {
    this.#readNextDueMs = readNextDueMs;
  }

  /** Something was written. */
  disturb(): void {
    this.#nextDueMs = null;
  }

  async isQuiet(): Promise<boolean> {
    this.#nextDueMs ??= await this.#readNextDueMs();
    return time.ms < this.#nextDueMs;
  }
}

/** A store whose claims do not reach the database while they would find nothing. */
export function skipEmptyClaims(store: TaskStore, queue: QuietQueue): TaskStore {
  let last: { readonly key: string; readonly atMs: number } | null = null;
  return {
    ...store,
    async claim(workerId, limit, isIdle) {
      const key = JSON.stringify([workerId, isIdle]);
      const isRecent = last?.key === key && time.ms - last.atMs < REPEATED_MS;
      if (isRecent && await queue.isQuiet()) return [];
      const tasks = await store.claim(workerId, limit, isIdle);
      last = { key, atMs: time.ms };
      return tasks;
    },
  };
}
