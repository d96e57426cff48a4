import type { FunctionConfig } from "./function_config.ts";
import { FunctionFailure } from "./function_failure.ts";
import { type FunctionLog, toLogLine } from "./function_log.ts";
import { Isolate, type IsolateEnd, type IsolateLimits } from "./isolate.ts";
import type { IsolateCommand, IsolateEvent } from "./isolate_protocol.ts";
import { type IsolateProcess, spawnIsolateProcess } from "./spawn_isolate_process.ts";
import { IsolateThreads } from "./thread_cpu.ts";

/** How long isolates may run `beforeunload` and the work that it starts. */
const UNLOAD_GRACE_MS = 2_000;

/**
 * How long the thread of a terminated isolate may take to end. In an endless loop it never ends.
 */
const THREAD_END_GRACE_MS = 1_000;
const THREAD_CHECK_INTERVAL_MS = 25;

/** The function name in log lines of the process itself. */
const RUNTIME_LOG_NAME = "edge-runtime";

/** Options that all isolates of a generation share. */
export interface IsolateGenerationOptions {
  readonly projectRoot: string;
  readonly config: FunctionConfig | null;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: IsolateLimits;
  readonly onLog: FunctionLog;
}

/** An isolate with its name and thread. */
interface RunningIsolate {
  readonly name: string;
  readonly isolate: Isolate;
  /** Its thread; null where the operating system does not report it. */
  thread: number | null;
}

/**
 * One process and its isolates. Deno cannot stop a worker in an endless loop: its thread keeps
 * running after `terminate()`. A process with such a thread gets no new isolates and is stopped
 * when its other isolates have finished their work.
 */
export class IsolateGeneration {
  readonly #options: IsolateGenerationOptions;
  readonly #process: Promise<IsolateProcess>;
  readonly #isolates = new Map<number, RunningIsolate>();
  #threads: IsolateThreads | null = null;
  #lastId = 0;
  #isUsable = true;

  constructor(options: IsolateGenerationOptions) {
    this.#options = options;
    this.#process = spawnIsolateProcess({
      projectRoot: options.projectRoot,
      config: options.config,
      env: options.env,
      onEvent: (event) => this.#handle(event),
      onOutput: (line) => options.onLog(toLogLine(RUNTIME_LOG_NAME, "warn", line)),
    });
    this.#process.then(({ pid, exited }) => {
      this.#threads = new IsolateThreads(pid);
      return exited;
    }).then(
      () => this.#loseProcess("the process of the edge functions has ended"),
      (error) => this.#loseProcess(`the process of the edge functions did not start: ${error}`),
    );
  }

  /** Whether it can start isolates. */
  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Starts an isolate. Calls `onEnd` when it has ended. */
  start({ name, entry, onEnd }: {
    readonly name: string;
    readonly entry: string;
    readonly onEnd: (isolate: Isolate) => void;
  }): Isolate {
    const id = this.#lastId += 1;
    const isolate = new Isolate({
      id,
      name,
      entry,
      limits: this.#options.limits,
      send: (command) => this.#send(command),
      readCpuMs: () => this.#readCpuMs(running.thread),
      log: (level, event, fields) =>
        this.#options.onLog(toLogLine(name, level, JSON.stringify({ event, ...fields }))),
      onEnd: (end) => {
        this.#isolates.delete(id);
        onEnd(isolate);
        void this.#afterEnd(running, end);
      },
    });
    const running: RunningIsolate = { name, isolate, thread: null };
    this.#isolates.set(id, running);
    return isolate;
  }

  /** Stops sending new requests to its isolates. */
  retire(): void {
    for (const { isolate } of this.#isolates.values()) isolate.retire();
  }

  /** Starts no more isolates, and ends the process when the running ones have finished. */
  close(): void {
    this.#isUsable = false;
    this.retire();
    if (this.#isolates.size === 0) void this.#endProcess();
  }

  /** Stops all isolates and the process. */
  async stop(): Promise<void> {
    this.#isUsable = false;
    for (const { isolate } of this.#isolates.values()) isolate.unload("termination");
    const deadline = performance.now() + UNLOAD_GRACE_MS;
    while (this.#isolates.size > 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    for (const { name, isolate } of [...this.#isolates.values()]) {
      const message = `Function ${name} was stopped: the stack is stopping`;
      isolate.end(new FunctionFailure("FUNCTION_HOST_STOPPED", message));
    }
    await this.#endProcess();
  }

  async #endProcess(): Promise<void> {
    const process = await this.#process.catch(() => null);
    await process?.stop();
  }

  #send(command: IsolateCommand): void {
    this.#process.then(({ send }) => send(command), () => {});
  }

  #loseProcess(reason: string): void {
    this.#isUsable = false;
    for (const { name, isolate } of [...this.#isolates.values()]) {
      isolate.end(new FunctionFailure("FUNCTION_CRASHED", `Function ${name} failed: ${reason}`));
    }
  }

  #handle(event: IsolateEvent): void {
    const entry = this.#isolates.get(event.isolate);
    if (entry === undefined) return;
    if (event.type === "started") {
      entry.thread = this.#threads?.claimNewest() ?? null;
    } else if (event.type === "log") {
      this.#options.onLog(toLogLine(entry.name, event.level, event.text));
    } else if (event.type === "failed" || event.type === "crashed") {
      this.#options.onLog(toLogLine(entry.name, "error", event.message));
    }
    entry.isolate.handle(event);
  }

  async #afterEnd(
    { name, thread }: RunningIsolate,
    { failure, mayStillRun }: IsolateEnd,
  ): Promise<void> {
    if (mayStillRun) {
      if (failure !== null) this.#options.onLog(toLogLine(name, "error", failure.message));
      if (!await this.#hasEnded(thread)) {
        this.#isUsable = false;
        this.retire();
      }
    }
    if (!this.#isUsable && this.#isolates.size === 0) await this.#endProcess();
  }

  /** Whether a terminated isolate's thread ends. False where that is unknown. */
  async #hasEnded(thread: number | null): Promise<boolean> {
    if (thread === null) return false;
    const deadline = performance.now() + THREAD_END_GRACE_MS;
    while (this.#readCpuMs(thread) !== null) {
      if (performance.now() > deadline) return false;
      await new Promise((resolve) => setTimeout(resolve, THREAD_CHECK_INTERVAL_MS));
    }
    return true;
  }

  #readCpuMs(thread: number | null): number | null {
    return thread === null ? null : this.#threads?.readCpuMs(thread) ?? null;
  }
}
