import { type CpuLimits, CpuWatch } from "./cpu_watch.ts";
import { forwardRequest } from "./forward_request.ts";
import { forwardWebSocket, isWebSocketRequest } from "./forward_websocket.ts";
import { FunctionFailure, type FunctionFailureCode } from "./function_failure.ts";
import type { JsonValue } from "../../shared/platform/values/json.ts";
import type { LogLevel } from "../../shared/platform/log/logger.ts";
import type { IsolateCommand, IsolateEvent, UnloadReason } from "./isolate_protocol.ts";

/** How long after a broken connection a crash report may arrive. */
const CRASH_REPORT_GRACE_MS = 500;

/** The limits of an isolate. */
export interface IsolateLimits {
  /** CPU time over its lifetime, counted after its import. Null: unlimited. */
  readonly cpu: CpuLimits | null;
  /** Lifetime: retired after 50 % of it, `beforeunload` after 90 %, terminated at the end. */
  readonly wallClockMs: number;
  /** Maximum time from a request to its response headers. */
  readonly requestTimeoutMs: number;
  /** Maximum time until the code is loaded and serves. */
  readonly bootTimeoutMs: number;
  /**
   * When a request is unanswered for this long, the isolate gets a ping. If it does not respond
   * within the same time again, it is considered to be in an endless loop and is terminated.
   */
  readonly blockedMs: number;
}

/** Limits for unlimited CPU time: the watch measures and never acts. */
const NO_CPU_LIMITS: CpuLimits = {
  softMs: Number.POSITIVE_INFINITY,
  hardMs: Number.POSITIVE_INFINITY,
};

/** How an isolate ended. */
export interface IsolateEnd {
  /** Null when it ended on request. */
  readonly failure: FunctionFailure | null;
  /** It was terminated at a limit, and its code may still occupy a thread. */
  readonly mayStillRun: boolean;
}

interface IsolateOptions {
  readonly id: number;
  readonly name: string;
  /** `file:` URL of the function's `index.ts`. */
  readonly entry: string;
  readonly limits: IsolateLimits;
  readonly send: (command: IsolateCommand) => void;
  /** Called once, when the isolate has ended. */
  readonly onEnd: (end: IsolateEnd) => void;
  /** Returns the CPU time of its thread in milliseconds, or null where it cannot be read. */
  readonly readCpuMs: () => number | null;
  readonly log: IsolateLog;
}

/** Logs what happens to an isolate at its limits. */
export type IsolateLog = (
  level: LogLevel,
  event: string,
  fields: { readonly [field: string]: JsonValue },
) => void;

/** One running instance of a function's code, seen from the stack. */
export class Isolate {
  readonly #options: IsolateOptions;
  readonly #address = Promise.withResolvers<{ readonly port: number; readonly key: string }>();
  /** Aborted when the isolate has ended. The reason is the failure. */
  readonly #end = new AbortController();
  readonly #timers: readonly ReturnType<typeof setTimeout>[];
  readonly #startedAt = performance.now();
  readonly #cpu: CpuWatch;
  /** Runs while the isolate has not answered a ping. */
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  #isRetired = false;
  #isReady = false;
  /** The error of requests that had not reached the isolate when it ended on request. */
  #missedCode: FunctionFailureCode = "FUNCTION_CRASHED";
  /** The number of requests without response headers. */
  #unanswered = 0;
  /**
   * The last reported number of requests and background tasks. Null before the unload is announced.
   */
  #pending: number | null = null;

  constructor(options: IsolateOptions) {
    this.#options = options;
    const { id: isolate, name, entry, limits: { wallClockMs, bootTimeoutMs } } = options;
    this.#address.promise.catch(() => {}); // Requests that wait for the address get the failure.
    this.#timers = [
      setTimeout(() => this.#exceedBoot(), bootTimeoutMs),
      setTimeout(() => this.retire(), wallClockMs * 0.5),
      setTimeout(() => this.unload("wall_clock"), wallClockMs * 0.9),
      setTimeout(() => this.#exceedWallClock(), wallClockMs),
    ];
    this.#cpu = new CpuWatch(options.limits.cpu ?? NO_CPU_LIMITS, {
      readMs: options.readCpuMs,
      onSoft: () => this.#retireAtCpu(),
      onWarning: () => this.unload("cpu"),
      onHard: () => this.#exceedCpu(),
    });
    options.send({ type: "start", isolate, name, entry });
  }

  /** Whether new requests may be sent to it. */
  get isAccepting(): boolean {
    return !this.#isRetired && !this.#end.signal.aborted;
  }

  /** CPU time that it has used, in milliseconds; null where it cannot be read. */
  get cpuMs(): number | null {
    return this.#cpu.usedMs;
  }

  /** Responds to a request. @throws FunctionFailure, or the request's abort reason. */
  async fetch(request: Request, path: string): Promise<Response> {
    const { requestTimeoutMs, blockedMs } = this.#options.limits;
    const timeout = new AbortController();
    const pinging = setInterval(() => this.#ping(), blockedMs);
    const timer = setTimeout(() => {
      const detail = `it did not respond within ${requestTimeoutMs} ms`;
      timeout.abort(this.#failure("FUNCTION_TIMEOUT", detail));
    }, requestTimeoutMs);
    const signal = AbortSignal.any([request.signal, this.#end.signal, timeout.signal]);
    this.#unanswered += 1;
    try {
      const address = await this.#address.promise;
      const forward = isWebSocketRequest(request) ? forwardWebSocket : forwardRequest;
      return await forward(request, { ...address, path, signal });
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof FunctionFailure) throw error;
      throw await this.#explain(error);
    } finally {
      clearInterval(pinging);
      clearTimeout(timer);
      this.#unanswered -= 1;
      this.#sendRetire();
    }
  }

  /** Handles the process's reports about this isolate. Its log lines are handled elsewhere. */
  handle(event: IsolateEvent): void {
    switch (event.type) {
      case "started":
      case "log":
        return;
      case "ready":
        this.#isReady = true;
        clearTimeout(this.#timers[0]);
        this.#cpu.start();
        return this.#address.resolve(event);
      case "pong":
        clearTimeout(this.#pingTimer);
        return void (this.#pingTimer = undefined);
      case "failed":
        return this.#failBoot(event.message);
      case "crashed":
        if (!this.#isReady) return this.#failBoot(event.message);
        return this.end(this.#failure("FUNCTION_CRASHED", event.message));
      case "pending":
        return void (this.#pending = event.count);
      case "ended":
        return this.end(null);
    }
  }

  /** Stops sending it new requests. It ends when its work is done. */
  retire(): void {
    if (!this.isAccepting) return;
    this.#isRetired = true;
    this.#sendRetire();
  }

  /** Announces the unload now. The isolate ends itself when its work is done. */
  unload(reason: UnloadReason): void {
    this.#isRetired = true;
    this.#cpu.sample();
    if (reason !== "termination") this.#logLimit("warn", "isolate.unloading", { reason });
    if (reason === "termination") this.#missedCode = "FUNCTION_HOST_STOPPED";
    this.#options.send({ type: "unload", isolate: this.#options.id, reason });
  }

  /** Ends it immediately. Requests in flight fail with `failure`. */
  end(failure: FunctionFailure | null): void {
    this.#finish({ failure, mayStillRun: false });
  }

  #finish(end: IsolateEnd): void {
    if (this.#end.signal.aborted) return;
    for (const timer of this.#timers) clearTimeout(timer);
    clearTimeout(this.#pingTimer);
    const usedMs = this.#cpu.usedMs;
    this.#cpu.stop();
    const { log } = this.#options;
    log("info", "isolate.ended", { ...usage(usedMs), age_ms: this.#ageMs() });
    const reason = end.failure ?? this.#failure(this.#missedCode, "its isolate has ended");
    this.#end.abort(reason);
    this.#address.reject(reason);
    this.#options.send({ type: "terminate", isolate: this.#options.id });
    this.#options.onEnd(end);
  }

  /** Sends the retirement to the isolate, but only after its last request has a response. */
  #sendRetire(): void {
    if (!this.#isRetired || this.#unanswered > 0 || this.#end.signal.aborted) return;
    const { id: isolate, send } = this.#options;
    send({ type: "retire", isolate, reason: "early_drop" });
  }

  #ping(): void {
    if (!this.#isReady || this.#pingTimer !== undefined) return;
    const { id: isolate, send, limits: { blockedMs } } = this.#options;
    send({ type: "ping", isolate });
    this.#pingTimer = setTimeout(() => {
      const detail = `its code has blocked the event loop for more than ${blockedMs} ms`;
      this.#giveUp("FUNCTION_BLOCKED", detail);
    }, blockedMs);
  }

  #failBoot(message: string): void {
    this.end(this.#failure("FUNCTION_BOOT_ERROR", message));
  }

  #exceedBoot(): void {
    const { bootTimeoutMs } = this.#options.limits;
    this.#giveUp("FUNCTION_BOOT_ERROR", `it did not start to serve within ${bootTimeoutMs} ms`);
  }

  #exceedWallClock(): void {
    const { wallClockMs } = this.#options.limits;
    this.#logLimit("error", "isolate.terminated", { reason: "wall_clock", lost: this.#lost() });
    this.#giveUp("FUNCTION_WALL_CLOCK", `it reached its wall-clock limit of ${wallClockMs} ms`);
  }

  #retireAtCpu(): void {
    this.#logLimit("info", "isolate.retired", { reason: "cpu" });
    this.retire();
  }

  #exceedCpu(): void {
    const { cpu } = this.#options.limits;
    this.#logLimit("error", "isolate.terminated", { reason: "cpu", lost: this.#lost() });
    this.#giveUp("FUNCTION_CPU_LIMIT", `it reached its CPU limit of ${cpu?.hardMs} ms`);
  }

  #logLimit(level: LogLevel, event: string, fields: { readonly [field: string]: JsonValue }): void {
    const { log, limits: { cpu, wallClockMs } } = this.#options;
    log(level, event, {
      ...fields,
      ...usage(this.#cpu.usedMs),
      ...(cpu === null ? {} : { cpu_soft_ms: cpu.softMs, cpu_hard_ms: cpu.hardMs }),
      age_ms: this.#ageMs(),
      wall_clock_ms: wallClockMs,
    });
  }

  /** Requests and background tasks that end with the isolate, as far as it reported them. */
  #lost(): number {
    return Math.max(this.#unanswered, this.#pending ?? 0);
  }

  #ageMs(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  #giveUp(code: FunctionFailureCode, detail: string): void {
    this.#finish({ failure: this.#failure(code, detail), mayStillRun: true });
  }

  /**
   * Finds the reason of a broken connection. Usually it is a crash, whose report may arrive later.
   * Otherwise the request's body may have failed, which does not end the isolate.
   */
  async #explain(error: unknown): Promise<unknown> {
    const { promise: reported, resolve } = Promise.withResolvers<void>();
    this.#end.signal.addEventListener("abort", () => resolve(), { once: true });
    const timer = setTimeout(resolve, CRASH_REPORT_GRACE_MS);
    await reported;
    clearTimeout(timer);
    if (this.#end.signal.aborted) return this.#end.signal.reason;
    this.#ping();
    return this.#failure("FUNCTION_EXCHANGE_BROKEN", String(error), { cause: error });
  }

  #failure(code: FunctionFailureCode, detail: string, options?: ErrorOptions): FunctionFailure {
    const firstLine = detail.split("\n", 1)[0] ?? detail;
    return new FunctionFailure(
      code,
      `Function ${this.#options.name} failed: ${firstLine}`,
      options,
    );
  }
}

function usage(cpuMs: number | null): { readonly cpu_ms?: number } {
  return cpuMs === null ? {} : { cpu_ms: cpuMs };
}
