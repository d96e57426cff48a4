/** While a piece of work typically takes less than this, workers claim more than they have slots. */
const QUICK_MS = 50;
/** Work that is claimed ahead has a slot within about so long. */
const AHEAD_MS = 100;
const MAX_AHEAD = 150;
/** How much the latest piece of work weighs in what is typical. */
const LATEST_SHARE = 0.2;

/** The place of one piece of work that runs. */
export interface Slot {
  /** Frees it for the next; a second call does nothing. */
  free(): void;
}

interface Waiting {
  readonly sinceMs: number;
  readonly resolve: (slot: Slot | null) => void;
}

/**
 * The slots of a worker. Work that was claimed ahead waits here until one is free: one claim for many
 * quick pieces saves a round trip for each. Slow pieces are never claimed ahead, since another worker
 * would begin them sooner.
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
      /** Called after each slot that is freed. */
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

  /** How much more than the free slots to claim; 0 while that is too little to be worth a claim. */
  get aheadCount(): number {
    if (this.#typicalMs >= QUICK_MS) return 0;
    const most = Math.min(MAX_AHEAD, Math.floor(this.#count * AHEAD_MS / this.#typicalMs));
    const room = most - this.#waiting.length;
    return room < most / 2 ? 0 : room;
  }

  /** Resolves with a slot, in the order of the calls; with null when `signal` aborts first. */
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

  /** Answers null to all who have waited for at least so long. */
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
