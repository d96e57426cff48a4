import type { Clock } from "../../platform/isolate/clock.ts";
import { StopReason } from "./stop_reason.ts";
import { Watch } from "./watch.ts";
import type { LeaseState, WorkLease } from "./work_kind.ts";

interface HeldPiece {
  readonly lease: WorkLease;
  readonly stop: AbortController;
  readonly pause: AbortController;
  readonly watch: Watch;
  readonly ended: Promise<unknown>;
  /** Answers that it awaits, which cost nothing until they arrive. */
  waitCount: number;
}

/** Begins to await an answer that arrives whole. @returns a function to call when it has arrived. */
export type AwaitWhole = () => () => void;

/** What tells a run about its work, and what it tells about itself. */
export interface HeldSignals {
  /** Aborts when the work must stop. */
  readonly signal: AbortSignal;
  /** Aborts when the work must be returned at its next step. */
  readonly paused: AbortSignal;
  readonly watch: Watch;
  readonly awaitWhole: AwaitWhole;
}

/** The work that a worker runs, with the means to stop each item. */
export class HeldWork {
  /** By lease: work that was returned and claimed again has a new one. */
  readonly #pieces = new Map<string, HeldPiece>();
  /** By id, under its latest lease; earlier ones are stopped. */
  readonly #latest = new Map<string, HeldPiece>();
  readonly #clock: Pick<Clock, "nowMs"> | undefined;

  /** @param clock Measures how long a watch lasts. @default the isolate's own */
  constructor(clock?: Pick<Clock, "nowMs">) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#pieces.size;
  }

  /** Leases to renew: those of work that has not been stopped. */
  get leases(): readonly WorkLease[] {
    return [...this.#pieces.values()]
      .filter(({ stop }) => !stop.signal.aborted)
      .map(({ lease }) => lease);
  }

  /** Holds work until `run` has ended. `run` must not throw. */
  async hold(
    lease: WorkLease,
    run: (signals: HeldSignals) => Promise<unknown>,
  ): Promise<void> {
    const key = keyOf(lease);
    this.#latest.get(lease.id)?.stop.abort(new StopReason("lost"));
    const stop = new AbortController();
    const pause = new AbortController();
    const watch = new Watch(this.#clock);
    const waiting = { waitCount: 0 };
    const awaitWhole = () => {
      waiting.waitCount++;
      return () => void waiting.waitCount--;
    };
    const ended = run({ signal: stop.signal, paused: pause.signal, watch, awaitWhole });
    const piece = Object.assign(waiting, { lease, stop, pause, watch, ended });
    this.#pieces.set(key, piece);
    this.#latest.set(lease.id, piece);
    await ended;
    this.#pieces.delete(key);
    if (this.#latest.get(lease.id) === piece) this.#latest.delete(lease.id);
  }

  /** Stops lost, cancelled or paused work, and records what is watched. */
  apply(states: readonly LeaseState[]): void {
    for (const { state, watchedSeconds = 0, ...lease } of states) {
      // The answer for an earlier lease may arrive when the work already has a new lease.
      const held = this.#pieces.get(keyOf(lease));
      if (state === "held") held?.watch.note(watchedSeconds);
      else if (state === "paused") held?.pause.abort(new StopReason(state));
      else held?.stop.abort(new StopReason(state));
    }
  }

  /** Stops everything. */
  stopAll(reason: StopReason): void {
    for (const { stop } of this.#pieces.values()) stop.abort(reason);
  }

  /** Stops all that does not await a whole answer. */
  stopComputing(reason: StopReason): void {
    for (const { stop, waitCount } of this.#pieces.values()) {
      if (waitCount === 0) stop.abort(reason);
    }
  }

  /** Resolves when all work that is held now has ended. */
  async allEnded(): Promise<void> {
    await Promise.all([...this.#pieces.values()].map(({ ended }) => ended));
  }
}

function keyOf({ id, epoch }: WorkLease): string {
  return `${id}:${epoch}`;
}
