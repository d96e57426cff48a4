import { StopReason } from "./stop_reason.ts";
import type { Lease, LeaseState } from "./task_store.ts";

interface HeldTask {
  readonly lease: Lease;
  readonly stop: AbortController;
  readonly ended: Promise<unknown>;
}

/** The tasks that a worker runs now, and the means to stop each. */
export class HeldTasks {
  /** By lease: a task that was let go and claimed again has a new one. */
  readonly #tasks = new Map<string, HeldTask>();

  get count(): number {
    return this.#tasks.size;
  }

  /** Leases worth renewing: those of tasks that have not been told to stop. */
  get leases(): readonly Lease[] {
    return [...this.#tasks.values()]
      .filter(({ stop }) => !stop.signal.aborted)
      .map(({ lease }) => lease);
  }

  /** Keeps the task until `run` has ended. `run` must not throw. */
  async hold(lease: Lease, run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    const key = keyOf(lease);
    for (const held of this.#tasks.values()) {
      if (held.lease.taskId === lease.taskId) held.stop.abort(new StopReason("lost"));
    }
    const stop = new AbortController();
    const ended = run(stop.signal);
    this.#tasks.set(key, { lease, stop, ended });
    await ended;
    this.#tasks.delete(key);
  }

  /** Stops the tasks whose lease is lost or whose job was cancelled. */
  heed(states: readonly LeaseState[]): void {
    for (const { state, ...lease } of states) {
      // Of an earlier lease the answer may come when the task runs under the next one.
      if (state !== "held") this.#tasks.get(keyOf(lease))?.stop.abort(new StopReason(state));
    }
  }

  /** Stops all tasks. */
  stopAll(reason: StopReason): void {
    for (const { stop } of this.#tasks.values()) stop.abort(reason);
  }

  /** Resolves when every task held now has ended. */
  async allEnded(): Promise<void> {
    await Promise.all([...this.#tasks.values()].map(({ ended }) => ended));
  }
}

function keyOf({ taskId, epoch }: Lease): string {
  return `${taskId}:${epoch}`;
}
