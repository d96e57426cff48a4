/** The watch notices a limit at most this late. */
const SHORTEST_PAUSE_MS = 10;

/** The isolate gets a warning at this share of the hard limit. */
const WARNING_SHARE = 0.9;

/** CPU time that an isolate may use over its lifetime, without the import of its code. */
export interface CpuLimits {
  /** After this time, the isolate gets no new requests. */
  readonly softMs: number;
  /** After this time, the isolate is terminated. */
  readonly hardMs: number;
}

/** What a {@linkcode CpuWatch} reads and calls. */
export interface CpuWatchPorts {
  /** Returns the CPU time of the isolate's thread, or null when it cannot be read. */
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
 * Enforces an isolate's CPU limits. A thread cannot use more CPU time than time passes, so the next
 * check is due at the earliest time at which the next limit can be reached. An isolate that waits
 * costs one check per second.
 */
export class CpuWatch {
  readonly #ports: CpuWatchPorts;
  readonly #timers: NonNullable<CpuWatchPorts["timers"]>;
  /** The pending actions, the earliest first. */
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

  /** Starts to count. Does nothing where CPU time cannot be read. */
  start(): void {
    this.#baseMs = this.#ports.readMs();
    if (this.#baseMs !== null) this.#check();
  }

  /** CPU time since the start, in whole milliseconds; null where it cannot be read. */
  get usedMs(): number | null {
    if (this.#baseMs === null) return null;
    // A thread that has ended keeps its last value.
    this.#usedMs = (this.#ports.readMs() ?? this.#baseMs + this.#usedMs) - this.#baseMs;
    return Math.round(this.#usedMs);
  }

  /** Reads the time now, because the thread is about to end. */
  sample(): void {
    void this.usedMs;
  }

  stop(): void {
    this.#timers.clear(this.#timer);
    this.#due.length = 0;
  }

  #check(): void {
    const usedMs = this.usedMs ?? 0;
    while (this.#due[0] !== undefined && this.#due[0].atMs <= usedMs) this.#due.shift()?.act();
    const next = this.#due[0];
    if (next === undefined || !Number.isFinite(next.atMs)) return;
    const pauseMs = Math.max(SHORTEST_PAUSE_MS, next.atMs - usedMs);
    this.#timer = this.#timers.set(() => this.#check(), pauseMs);
  }
}
