/** While work typically takes less than this, workers claim more work than they have slots. */
const QUICK_MS = 50;
/** Work that is claimed ahead gets a slot within about this time. */
const AHEAD_MS = 100;
const MAX_AHEAD = 150;
/** Weight of the latest piece of work in the moving average. */
const LATEST_SHARE = 0.2;

/** The slot of one running piece of work. */
export interface Slot {
  /** Frees the slot. A second call does nothing. */
  free(): void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly resolve: (slot: Slot | null) => void;
}

/**
 * The slots of a worker. Work that was claimed ahead waits for a free slot: one claim for many
 * quick pieces saves round trips. Slow work is never claimed ahead, because another worker would
 * start it sooner.
 */
export class Slots {
  readonly #count: number;
  readonly #nowMs: () => number;
  readonly #onFree: () => void;
  #usedCount = 0;
  #typicalMs = Infinity;
  #waiting: Waiting[] = [];

  constructor(
    { count, nowMs, onFree }: {
      readonly count: number;
      readonly nowMs: () => number;
      /** Called after each freed slot. */
      readonly onFree: () => void;
    },
  ) {
    this.#count = count;
    this.#nowMs = nowMs;
    this.#onFree = onFree;
  }

  /** Free slots. */
  get freeCount(): number {
    return Math.max(0, this.#count - this.#usedCount);
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** How much to claim in addition to the free slots; 0 if it is too little for a claim. */
  get aheadCount(): number {
    if (this.#typicalMs >= QUICK_MS) return 0;
    const most = Math.min(MAX_AHEAD, Math.floor(this.#count * AHEAD_MS / this.#typicalMs));
    const room = most - this.#waiting.length;
    return room < most / 2 ? 0 : room;
  }

  /** Resolves with a slot, in the order of the calls, or with null if `signal` aborts first. */
  take(signal: AbortSignal): Promise<Slot | null> {
    if (signal.aborted) return Promise.resolve(null);
    if (this.freeCount > 0) return Promise.resolve(this.#occupy());
    const { promise, resolve } = Promise.withResolvers<Slot | null>();
    const waiting = { sinceMs: this.#nowMs(), resolve };
    this.#waiting.push(waiting);
    const stop = () => {
      this.#waiting = this.#waiting.filter((other) => other !== waiting);
      resolve(null);
    };
    signal.addEventListener("abort", stop, { once: true });
    return promise.finally(() => signal.removeEventListener("abort", stop));
  }

  /** Resolves all calls that have waited at least this long with null. */
  refuse(waitedMs: number): void {
    const latestMs = this.#nowMs() - waitedMs;
    // The first has waited longest.
    while (this.#waiting[0] !== undefined && this.#waiting[0].sinceMs <= latestMs) {
      this.#waiting.shift()?.resolve(null);
    }
  }

  #occupy(): Slot {
    this.#usedCount++;
    const beganAtMs = this.#nowMs();
    let isFree = false;
    return {
      free: () => {
        if (isFree) return;
        isFree = true;
        this.#usedCount--;
        this.#measure(this.#nowMs() - beganAtMs);
        const next = this.#waiting.shift();
        if (next !== undefined) next.resolve(this.#occupy());
        this.#onFree();
      },
    };
  }

  #measure(durationMs: number): void {
    this.#typicalMs = this.#typicalMs === Infinity
      ? durationMs
      : this.#typicalMs + (durationMs - this.#typicalMs) * LATEST_SHARE;
  }
}
