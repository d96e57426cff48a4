import { join } from "node:path";
import type { ChaosWorkerOptions } from "./chaos_worker.ts";

/** The common configuration of all workers in a pool. */
export type PoolOptions = Omit<ChaosWorkerOptions, "workerId" | "isListening"> & {
  /** The number of concurrent processes. */
  readonly workers: number;
  /** How many of them listen. */
  readonly listeningWorkers: number;
  /** Folders with the sources of the workers, the current ones first: each worker runs one of them. */
  readonly checkouts: readonly string[];
};

/** A fault of a worker, in milliseconds since the epoch. */
export interface Disturbance {
  readonly workerId: string;
  readonly beganAtMs: number;
  readonly endedAtMs: number;
}

interface WorkerProcess {
  readonly workerId: string;
  readonly child: Deno.ChildProcess;
  readonly stdin: WritableStreamDefaultWriter<Uint8Array>;
  isFrozen: boolean;
  isGone: boolean;
}

const NEWLINE = new Uint8Array([10]);
const WORKER = "tests/faults/chaos/chaos_worker.ts";
const OLD_NAME = "old-chaos-worker";

/** Whether a worker runs the sources of another commit. */
export function isOld(workerId: string): boolean {
  return workerId.startsWith(OLD_NAME);
}

/** Worker processes; one that ends is immediately replaced by a similar one with another name. */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #processes = new Map<string, WorkerProcess>();
  readonly disturbances: Disturbance[] = [];
  /** Processes that ended without being killed. */
  collapsedCount = 0;
  #startedCount = 0;
  #isStopping = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    for (let count = 0; count < options.workers; count++) {
      this.#start(count < options.listeningWorkers);
    }
  }

  get frozenCount(): number {
    return [...this.#processes.values()].filter(({ isFrozen }) => isFrozen).length;
  }

  /** Ends the process with SIGKILL; false if it had ended. */
  kill(workerId: string): boolean {
    const worker = this.#processes.get(workerId);
    if (worker === undefined || worker.isGone) return false;
    worker.isGone = true;
    this.note(workerId, Date.now());
    return send(worker, "SIGKILL");
  }

  /** Stops the process with SIGSTOP; false if it is stopped or has ended. */
  freeze(workerId: string): boolean {
    const worker = this.#processes.get(workerId);
    if (worker === undefined || worker.isGone || worker.isFrozen) return false;
    worker.isFrozen = send(worker, "SIGSTOP");
    return worker.isFrozen;
  }

  /** Resumes the process; false if it was killed meanwhile. */
  thaw(workerId: string): boolean {
    const worker = this.#processes.get(workerId);
    if (worker === undefined || worker.isGone) return false;
    worker.isFrozen = false;
    return send(worker, "SIGCONT");
  }

  /** Records a worker's faults until now. */
  note(workerId: string, beganAtMs: number): void {
    this.disturbances.push({ workerId, beganAtMs, endedAtMs: Date.now() });
  }

  /** Sends the wake-ups that the platform's cron would send. */
  wakeAll(): void {
    for (const worker of this.#processes.values()) this.#wake(worker);
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const all = [...this.#processes.values()];
    for (const worker of all) {
      worker.isGone = true;
      send(worker, "SIGKILL");
    }
    await Promise.all(all.map(({ child }) => child.status));
  }

  #wake({ stdin, isGone }: WorkerProcess): void {
    // A process that ends meanwhile needs no wake-up.
    if (!isGone) stdin.write(NEWLINE).catch(() => {});
  }

  #start(isListening: boolean): void {
    const { workers: _workers, listeningWorkers: _listening, checkouts, ...common } = this.#options;
    const index = Math.floor(Math.random() * checkouts.length);
    const checkout = checkouts[index] ?? "";
    const workerId = `${index > 0 ? OLD_NAME : "chaos-worker"}-${++this.#startedCount}`;
    const options: ChaosWorkerOptions = { workerId, isListening, ...common };
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", join(checkout, WORKER), JSON.stringify(options)],
      cwd: checkout,
      stdin: "piped",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
    const stdin = child.stdin.getWriter();
    stdin.closed.catch(() => {});
    const worker = { workerId, child, stdin, isFrozen: false, isGone: false };
    this.#processes.set(workerId, worker);
    this.#wake(worker);
    void child.status.then(() => {
      if (!worker.isGone) this.collapsedCount++;
      this.#processes.delete(workerId);
      if (!this.#isStopping) this.#start(isListening);
    });
  }
}

/** False if the process has ended. */
function send({ child }: WorkerProcess, signal: Deno.Signal): boolean {
  try {
    child.kill(signal);
    return true;
  } catch {
    return false;
  }
}
