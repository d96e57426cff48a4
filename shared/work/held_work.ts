import type { Clock } from "../isolate/clock.ts";
import type { HeldLoad } from "../isolate/lifetime.ts";
import { StopReason } from "./stop_reason.ts";
import { Watch } from "./watch.ts";
import type { LeaseState, WorkLease } from "./work_kind.ts";

interface HeldPiece {
  readonly lease: WorkLease;
  readonly stop: AbortController;
  readonly watch: Watch;
  readonly ended: Promise<unknown>;
}

/** What a worker does now, and the means to stop each piece of it. */
export class HeldWork {
  /** By lease: what was handed back and claimed again has a new one. */
  readonly #pieces = new Map<string, HeldPiece>();
  readonly #clock: Pick<Clock, "nowMs"> | undefined;

  /** @param clock Tells how long a watch lasts. @default the isolate's own */
  constructor(clock?: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#pieces.size;
  }

  /** What is held, as far as its cost goes. */
  get load(): HeldLoad {
    const watched = [...this.#pieces.values()].filter(({ watch }) => watch.isOn);
    return { count: this.count, streamCount: watched.length };
  }

  /** Leases worth renewing: those of work that has not been stopped. */
  get leases(): readonly WorkLease[] {
    return [...this.#pieces.values()]
      .filter(({ stop }) => !stop.signal.aborted)
      .map(({ lease }) => lease);
  }

  /** Keeps a piece of work until `run` has ended. `run` must not throw. */
  async hold(
    lease: WorkLease,
    run: (signal: AbortSignal, watch: Watch) => Promise<unknown>,
  ): Promise<void> {
    const key = keyOf(lease);
    for (const held of this.#pieces.values()) {
      if (held.lease.id === lease.id) held.stop.abort(new StopReason("lost"));
    }
    const stop = new AbortController();
    const watch = new Watch(this.#clock);
    const ended = run(stop.signal, watch);
    this.#pieces.set(key, { lease, stop, watch, ended });
    await ended;
    this.#pieces.delete(key);
  }

  /** Stops what is lost or cancelled, and notes what is watched. */
  apply(states: readonly LeaseState[]): void {
    for (const { state, watchedSeconds = 0, ...lease } of states) {
      // Of an earlier lease the answer may come when the work runs under the next one.
      const held = this.#pieces.get(keyOf(lease));
      if (state === "held") held?.watch.note(watchedSeconds);
      else held?.stop.abort(new StopReason(state));
    }
  }

  /** Stops everything. */
  stopAll(reason: StopReason): void {
    for (const { stop } of this.#pieces.values()) stop.abort(reason);
  }

  /** Resolves when all that is held now has ended. */
  async allEnded(): Promise<void> {
    await Promise.all([...this.#pieces.values()].map(({ ended }) => ended));
  }
}

function keyOf({ id, epoch }: WorkLease): string {
  return `${id}:${epoch}`;
}
