import { type MinilmProcess, startMinilmProcess } from "./minilm_process.ts";

/** A process needs about 270 MB. */
const MAX_PROCESSES = 2;
/** With fewer waiting texts, the first process finishes before a second one has started. */
const TEXTS_FOR_A_SECOND_PROCESS = 4;
const DEFAULT_IDLE_MS = 300_000;

interface MinilmPoolOptions {
  /** How long processes stay without work. @default 300_000 */
  readonly idleMs?: number;
  readonly startProcess?: () => MinilmProcess;
}

interface Job {
  readonly text: string;
  readonly signal: AbortSignal;
  readonly resolve: (vector: readonly number[]) => void;
  readonly reject: (reason: unknown) => void;
}

interface Lane {
  readonly process: MinilmProcess;
  isBusy: boolean;
}

/**
 * Manages the model's processes. It has none before the first text and none after idle time. A
 * single text is a search and has priority over the texts of documents, which are queued
 * separately.
 */
export class MinilmPool {
  readonly #idleMs: number;
  readonly #startProcess: () => MinilmProcess;
  readonly #maxLanes = Math.min(MAX_PROCESSES, navigator.hardwareConcurrency);
  readonly #lanes = new Set<Lane>();
  #waiting: Job[] = [];
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(options: MinilmPoolOptions = {}) {
    this.#idleMs = options.idleMs ?? DEFAULT_IDLE_MS;
    this.#startProcess = options.startProcess ?? startMinilmProcess;
  }

  /**
   * Returns the vectors of the texts in order. Rejects with the error of the first text that fails.
   */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<(readonly number[])[]> {
    signal.throwIfAborted();
    const failed = new AbortController();
    const jobs = texts.map((text) => {
      const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
      const either = AbortSignal.any([signal, failed.signal]);
      return { job: { text, signal: either, resolve, reject }, promise };
    });
    const added = jobs.map(({ job }) => job);
    this.#waiting = added.length === 1
      ? [...added, ...this.#waiting]
      : [...this.#waiting, ...added];
    this.#assign();
    try {
      return await Promise.all(jobs.map(({ promise }) => promise));
    } catch (error) {
      // The rest of the results is not needed.
      failed.abort(error);
      await Promise.allSettled(jobs.map(({ promise }) => promise));
      throw error;
    }
  }

  /** The number of processes. */
  get processCount(): number {
    return this.#lanes.size;
  }

  /** The number of busy processes. */
  get busyCount(): number {
    return [...this.#lanes].filter(({ isBusy }) => isBusy).length;
  }

  /** Ends the processes and rejects pending requests. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { reject } of waiting) reject(new Error("The embedding server has stopped"));
    await this.#stopLanes();
  }

  /** Assigns waiting texts to free processes, and starts a process if it saves time. */
  #assign(): void {
    clearTimeout(this.#idleTimer);
    this.#waiting = this.#waiting.filter(({ signal, reject }) => {
      if (signal.aborted) reject(signal.reason);
      return !signal.aborted;
    });
    for (const lane of this.#lanes) if (!lane.isBusy) this.#give(lane);
    while (!this.#isStopped && this.#needsLane()) this.#give(this.#addLane());
    const isIdle = this.#waiting.length === 0 && this.busyCount === 0;
    if (!isIdle || this.#lanes.size === 0) return;
    const timer = setTimeout(() => this.#stopLanes(), this.#idleMs);
    Deno.unrefTimer(timer);
    this.#idleTimer = timer;
  }

  #needsLane(): boolean {
    const fewest = this.#lanes.size === 0 ? 1 : TEXTS_FOR_A_SECOND_PROCESS;
    return this.#lanes.size < this.#maxLanes && this.#waiting.length >= fewest;
  }

  #addLane(): Lane {
    const lane = { process: this.#startProcess(), isBusy: false };
    this.#lanes.add(lane);
    return lane;
  }

  #give(lane: Lane): void {
    const job = this.#waiting.shift();
    if (job === undefined) return;
    lane.isBusy = true;
    this.#run(lane, job).finally(() => this.#assign());
  }

  async #run(lane: Lane, { text, resolve, reject }: Job): Promise<void> {
    try {
      resolve(await lane.process.embed(text));
      lane.isBusy = false;
    } catch (error) {
      // Its state is unknown, so the next text gets a new process.
      this.#lanes.delete(lane);
      await lane.process.stop();
      reject(error);
    }
  }

  async #stopLanes(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const lanes = [...this.#lanes];
    this.#lanes.clear();
    await Promise.all(lanes.map(({ process }) => process.stop()));
  }
}
