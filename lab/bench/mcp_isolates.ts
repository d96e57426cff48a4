import { type CpuLimits, CpuWatch } from "../../stack/functions/cpu_watch.ts";
import { IsolateThreads } from "../../stack/functions/thread_cpu.ts";
import { type McpAnswer, sendTo } from "./mcp_endpoint.ts";
import { type ReportingProcess, startReportingProcess } from "./reporting_process.ts";

interface Isolate {
  readonly process: ReportingProcess<{ url: string }>;
  /** Known when it serves. */
  readonly url: Promise<string>;
  readonly cpu: CpuWatch;
  inFlight: number;
  isRetired: boolean;
}

/**
 * The function `mcp` as the platform runs it: one isolate at a time, which gets no new requests from
 * its soft CPU limit on, and is killed at the hard one. The next request then starts another.
 */
export class McpIsolates implements AsyncDisposable {
  readonly #env: Readonly<Record<string, string>>;
  readonly #limits: CpuLimits;
  readonly #running = new Set<Isolate>();
  #current: Isolate | undefined;
  #startedCount = 0;
  #endedCpuMs = 0;

  /** @param env The variables that the platform sets. */
  constructor(env: Readonly<Record<string, string>>, limits: CpuLimits) {
    this.#env = env;
    this.#limits = limits;
  }

  /** Isolates that were started, and the CPU time of their threads since each began to serve. */
  get usage(): { readonly startedCount: number; readonly cpuMs: number } {
    const running = [...this.#running].reduce((sum, { cpu }) => sum + (cpu.usedMs ?? 0), 0);
    return { startedCount: this.#startedCount, cpuMs: this.#endedCpuMs + running };
  }

  /** Resolves when an isolate serves. */
  async start(): Promise<void> {
    await (this.#current ??= this.#start()).url;
  }

  /** Sends a request to the current isolate. */
  async send(path: string, request: RequestInit): Promise<McpAnswer> {
    const isolate = this.#current ??= this.#start();
    isolate.inFlight++;
    try {
      return await sendTo(`${await isolate.url}/${path}`)(request);
    } finally {
      isolate.inFlight--;
      this.#endIfDone(isolate);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#running].map((isolate) => this.#end(isolate)));
  }

  #start(): Isolate {
    this.#startedCount++;
    const process = startReportingProcess<{ url: string }>("mcp_function.ts", this.#env);
    const threads = new IsolateThreads(process.pid);
    const retire = () => this.#retire(isolate);
    const cpu = new CpuWatch(this.#limits, {
      readMs: () => threads.readCpuMs(process.pid),
      onSoft: retire,
      onWarning: retire,
      onHard: () => void this.#end(isolate),
    });
    const url = process.ask().then((report) => {
      cpu.start();
      return report.url;
    });
    const isolate: Isolate = { process, url, cpu, inFlight: 0, isRetired: false };
    this.#running.add(isolate);
    return isolate;
  }

  #retire(isolate: Isolate): void {
    isolate.isRetired = true;
    if (this.#current === isolate) this.#current = undefined;
    this.#endIfDone(isolate);
  }

  #endIfDone(isolate: Isolate): void {
    if (isolate.isRetired && isolate.inFlight === 0) void this.#end(isolate);
  }

  async #end(isolate: Isolate): Promise<void> {
    if (!this.#running.delete(isolate)) return;
    if (this.#current === isolate) this.#current = undefined;
    this.#endedCpuMs += isolate.cpu.usedMs ?? 0;
    isolate.cpu.stop();
    await isolate.process[Symbol.asyncDispose]();
  }
}
