/** A limit is noticed at most so late. */
const SHORTEST_PAUSE_MS = 10;

/** The share of the hard limit at which the isolate is warned. */
const WARNING_SHARE = 0.9;

/** CPU time that an isolate may use over its whole life, its import not counted. */
export interface CpuLimits {
  /** After this it gets no new requests. */
  readonly softMs: number;
  /** Here it is terminated. */
  readonly hardMs: number;
}

/** What a {@linkcode CpuWatch} reads and calls. */
export interface CpuWatchPorts {
  /** CPU time of the isolate's thread since its start; null when it cannot be read. */
  readonly readMs: () => number | null;
  readonly onSoft: () => void;
  readonly onWarning: () => void;
  readonly onHard: () => void;
  /** @default the runtime's timers */
  readonly timers?: {
    set(work: () => void, pauseMs: number): unknown;
    clear(timer: unknown): void;
  };
}

const RUNTIME_TIMERS = {
  set: (work: () => void, pauseMs: number): unknown => setTimeout(work, pauseMs),
  clear: (timer: unknown) => clearTimeout(timer as ReturnType<typeof setTimeout>),
};

/**
 * Holds an isolate to its CPU limits. One thread cannot use more CPU time than time passes, so the
 * next look is due when the next limit could be reached at the earliest: an isolate that waits
 * costs a look a second.
 */
export class CpuWatch {
  readonly #ports: CpuWatchPorts;
  readonly #timers: NonNullable<CpuWatchPorts["timers"]>;
  /** What is still to happen, the earliest first. */
  readonly #due: { readonly atMs: number; readonly act: () => void }[];
  #baseMs: number | null = null;
  #usedMs = 0;
  #timer: unknown = null;

  constructor({ softMs, hardMs }: CpuLimits, ports: CpuWatchPorts) {
    this.#ports = ports;
    this.#timers = ports.timers ?? RUNTIME_TIMERS;
    this.#due = [
      { atMs: softMs, act: ports.onSoft },
      { atMs: hardMs * WARNING_SHARE, act: ports.onWarning },
      { atMs: hardMs, act: ports.onHard },
    ].sort((one, other) => one.atMs - other.atMs);
  }

  /** Counts from now on. Does nothing where CPU time cannot be read. */
  start(): void {
    this.#baseMs = this.#ports.readMs();
    if (this.#baseMs !== null) this.#look();
  }

  /** CPU time since the start in whole milliseconds; null where it cannot be read. */
  get usedMs(): number | null {
    if (this.#baseMs === null) return null;
    // A thread that is gone keeps its last reading.
    this.#usedMs = (this.#ports.readMs() ?? this.#baseMs + this.#usedMs) - this.#baseMs;
    return Math.round(this.#usedMs);
  }

  stop(): void {
    this.#timers.clear(this.#timer);
    this.#due.length = 0;
  }

  #look(): void {
    const usedMs = this.usedMs ?? 0;
    while (this.#due[0] !== undefined && this.#due[0].atMs <= usedMs) this.#due.shift()?.act();
    const next = this.#due[0];
    if (next === undefined || !Number.isFinite(next.atMs)) return;
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, next.atMs - usedMs);
    this.#timer = this.#timers.set(() => this.#look(), pauseMs);
  }
}
