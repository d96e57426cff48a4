import type { Clock } from "../isolate/clock.ts";
import type { HeldWork } from "../isolate/lifetime.ts";
import { StopReason } from "./stop_reason.ts";
import type { Lease, LeaseState } from "./task_store.ts";
import { Watch } from "./watch.ts";

interface HeldTask {
  readonly lease: Lease;
  readonly stop: AbortController;
  readonly watch: Watch;
  readonly ended: Promise<unknown>;
}

/** The tasks that a worker runs now, and the means to stop each. */
export class HeldTasks {
  /** By lease: a task that was let go and claimed again has a new one. */
  readonly #tasks = new Map<string, HeldTask>();
  readonly #clock: Pick<Clock, "nowMs"> | undefined;

  /** @param clock Tells how long a watch lasts. @default the isolate's own */
  constructor(clock?: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#tasks.size;
  }

  /** What is held, as far as its cost goes. */
  get work(): HeldWork {
    const watched = [...this.#tasks.values()].filter(({ watch }) => watch.isOn);
    return { taskCount: this.count, streamCount: watched.length };
  }

  /** Leases worth renewing: those of tasks that have not been told to stop. */
  get leases(): readonly Lease[] {
    return [...this.#tasks.values()]
      .filter(({ stop }) => !stop.signal.aborted)
      .map(({ lease }) => lease);
  }

  /** Keeps the task until `run` has ended. `run` must not throw. */
  async hold(
    lease: Lease,
    run: (signal: AbortSignal, watch: Watch) => Promise<unknown>,
  ): Promise<void> {
    const key = keyOf(lease);
    for (const held of this.#tasks.values()) {
      if (held.lease.taskId === lease.taskId) held.stop.abort(new StopReason("lost"));
    }
    const stop = new AbortController();
    const watch = new Watch(this.#clock);
    const ended = run(stop.signal, watch);
    this.#tasks.set(key, { lease, stop, watch, ended });
    await ended;
    this.#tasks.delete(key);
  }

  /** Stops the tasks whose lease is lost or whose job was cancelled, and notes who is watched. */
  heed(states: readonly LeaseState[]): void {
    for (const { state, watchedSeconds = 0, ...lease } of states) {
      // Of an earlier lease the answer may come when the task runs under the next one.
      const held = this.#tasks.get(keyOf(lease));
      if (state === "held") held?.watch.note(watchedSeconds);
      else held?.stop.abort(new StopReason(state));
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
