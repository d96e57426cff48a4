import { SwarmError } from "../errors/swarm_error.ts";
import type { RequestGate } from "../http/http_handler.ts";
import { type CpuMeter, createCpuMeter } from "./cpu_meter.ts";

/** What a gate measures with; tests replace it. */
export interface RequestGateOptions {
  readonly meter?: CpuMeter;
}

/** Share of the hard limit. The rest finishes the requests that run, and covers the import. */
const REFUSE_SHARE = 0.75;
/** CPU of a request, until the cost of some is known. */
const USUAL_COST_MS = 30;
const KNOWN_AFTER = 3;
/**
 * Requests that compute at the same time. Without this limit, all requests of a burst would start
 * before the first has shown what they cost.
 */
const MAX_COMPUTING = 6;
/** A request that has run for longer mostly waits, for example for a tool. */
const COMPUTES_FOR_MS = 500;
/** Requests that wait for their turn start when the isolate has used less than this meanwhile. */
const LOOK_MS = 50;
const IDLE_CPU_MS = 5;
/** Then only the CPU that is left decides. */
const MAX_WAIT_MS = 5_000;
const RETRY_AFTER_SECONDS = 1;

/**
 * Creates the gate of an isolate that gets no more requests after `softMs` of CPU, and that the
 * platform kills at `hardMs` with all requests that run in it. An isolate that refuses is retired, so
 * a request that is sent again reaches another one.
 *
 * @param cpu Null without a limit: every request starts immediately.
 */
export function createRequestGate(
  cpu: { readonly softMs: number; readonly hardMs: number } | null,
  { meter = createCpuMeter() }: RequestGateOptions = {},
): RequestGate {
  if (cpu === null) return { admit: (answer) => answer() };
  return new CpuGate(cpu, meter);
}

class CpuGate implements RequestGate {
  readonly #softMs: number;
  readonly #maxMs: number;
  readonly #meter: CpuMeter;
  #computingCount = 0;
  #endedCount = 0;
  /** CPU at the end of the first request, which also loads modules and connects. */
  #usedByFirstMs = 0;
  #waiting: (() => void)[] = [];
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor(
    { softMs, hardMs }: { readonly softMs: number; readonly hardMs: number },
    meter: CpuMeter,
  ) {
    this.#softMs = softMs;
    this.#maxMs = REFUSE_SHARE * hardMs;
    this.#meter = meter;
  }

  async admit(answer: () => Promise<Response>): Promise<Response> {
    // It has just been sent, so the isolate was not retired, whatever the meter says. Requests that
    // arrive together may have been sent earlier.
    if (this.#computingCount === 0) this.#meter.limitTo(this.#softMs);
    if (this.#computingCount >= MAX_COMPUTING) await this.#takeTurn();
    if (!this.#canFinishOneMore) {
      this.#giveTurn();
      throw busy();
    }
    const end = this.#begin();
    try {
      const response = await answer();
      if (isEventStream(response)) return endingWith(response, end);
      end();
      return response;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Counts a request until the returned function is called. */
  #begin(): () => void {
    let isComputing = true;
    let hasEnded = false;
    this.#computingCount++;
    const stopComputing = () => {
      if (!isComputing) return;
      isComputing = false;
      this.#computingCount--;
      this.#giveTurn();
    };
    const timer = setTimeout(stopComputing, COMPUTES_FOR_MS);
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      clearTimeout(timer);
      this.#endedCount++;
      if (this.#endedCount === 1) this.#usedByFirstMs = this.#meter.usedMs();
      stopComputing();
    };
  }

  get #canFinishOneMore(): boolean {
    const usedMs = this.#meter.usedMs();
    const knownCount = this.#endedCount - 1;
    const costMs = knownCount < KNOWN_AFTER
      ? USUAL_COST_MS
      : (usedMs - this.#usedByFirstMs) / knownCount;
    return usedMs + (this.#computingCount + 1) * costMs <= this.#maxMs;
  }

  #giveTurn(): void {
    this.#waiting.shift()?.();
  }

  /** Waits until an earlier request has ended, or all of them wait for something themselves. */
  async #takeTurn(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, MAX_WAIT_MS);
    this.#waiting.push(resolve);
    this.#looking ??= this.#look();
    await promise;
    clearTimeout(timer);
    this.#waiting = this.#waiting.filter((other) => other !== resolve);
    if (this.#waiting.length > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Gives turns whenever the isolate is idle: requests that wait do not hold up others. */
  #look(): ReturnType<typeof setInterval> {
    let lastMs = this.#meter.usedMs();
    return setInterval(() => {
      const usedMs = this.#meter.usedMs();
      const isIdle = usedMs - lastMs < IDLE_CPU_MS;
      lastMs = usedMs;
      for (let turn = 0; isIdle && turn < MAX_COMPUTING; turn++) this.#giveTurn();
    }, LOOK_MS);
  }
}

function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** The response, whose body calls `end` when it has been read, or is read no further. */
function endingWith(response: Response, end: () => void): Response {
  const { body, status, headers } = response;
  if (body === null) {
    end();
    return response;
  }
  const observer: Transformer<Uint8Array, Uint8Array> = { flush: end, cancel: end };
  return new Response(body.pipeThrough(new TransformStream(observer)), { status, headers });
}

function busy(): SwarmError {
  return new SwarmError(
    "ENDPOINT_BUSY",
    "Cannot answer the request: this function instance has no CPU time left for it",
    {
      hint: `Send the request again in ${RETRY_AFTER_SECONDS} second.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    },
  );
}
