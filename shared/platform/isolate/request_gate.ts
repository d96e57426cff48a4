import { SwarmError } from "../errors/swarm_error.ts";
import type { RequestGate } from "../http/http_handler.ts";
import { type CpuMeter, createCpuMeter } from "./cpu_meter.ts";
import { FORM_LIMITS } from "../json/json_limits.ts";
import { parseJsonOrUndefined } from "../json/parse_json.ts";
import { isJsonObject } from "../values/json.ts";

/** Tokens that are remembered; the oldest is forgotten first. */
const MAX_TOKENS = 500;

/**
 * Assigns requests to callers before they are authenticated, for fair shares of an isolate. It
 * verifies nothing itself: a token counts as its subject only after a request with the same token
 * was answered. All others count as their network address, so that invented tokens and subjects
 * give nobody a larger share.
 */
class CallerKeys {
  readonly #subjects = new Map<string, string>();

  /** The caller of a request, for comparison only. */
  keyOf(request: Request): string {
    const subject = this.#subjects.get(tokenOf(request) ?? "");
    return subject === undefined ? `address ${addressOf(request)}` : `subject ${subject}`;
  }

  /** Remembers or forgets the request's token. */
  note(request: Request, { status, ok }: Pick<Response, "status" | "ok">): void {
    const token = tokenOf(request);
    if (token === null) return;
    if (status === 401) this.#subjects.delete(token);
    if (!ok || this.#subjects.has(token)) return;
    this.#subjects.set(token, subjectOf(token));
    const [oldest] = this.#subjects.keys();
    if (this.#subjects.size > MAX_TOKENS && oldest !== undefined) this.#subjects.delete(oldest);
  }
}

function tokenOf({ headers }: Request): string | null {
  return headers.get("authorization") ?? headers.get("apikey");
}

/** Where the request comes from, as the platform's proxy writes it. */
function addressOf({ headers }: Request): string {
  return headers.get("cf-connecting-ip") ?? headers.get("x-forwarded-for")?.split(",")[0] ?? "";
}

/** The `sub` of a JWT, so that all tokens of a user count as one caller; else the token. */
function subjectOf(token: string): string {
  const payload = token.split(".")[1] ?? "";
  try {
    const text = atob(payload.replaceAll("-", "+").replaceAll("_", "/"));
    const claims = parseJsonOrUndefined(text, FORM_LIMITS);
    return isJsonObject(claims) && typeof claims.sub === "string" ? claims.sub : token;
  } catch {
    return token;
  }
}

/** What a gate measures with; tests replace it. */
export interface RequestGateOptions {
  readonly meter?: CpuMeter;
}

/** Share of the hard limit. The rest finishes the requests that run, and covers the import. */
const REFUSE_SHARE = 0.75;
/** The same for a caller with many requests here. The rest remains for other callers. */
const CROWD_REFUSE_SHARE = 0.65;
const CROWD = 4;
/** CPU of a request, until the cost of some is known. */
const USUAL_COST_MS = 30;
const KNOWN_AFTER = 3;
/**
 * Requests that compute at the same time. Without this limit, all requests of a burst would start
 * before the first has shown what they cost.
 */
const MAX_COMPUTING = 6;
/** Of these, requests of one caller: the next caller does not wait for any of them. */
const MAX_COMPUTING_OF_ONE = MAX_COMPUTING - 1;
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
 * a request that is sent again reaches another one. Callers take turns: one that sends many requests
 * waits for its own, and is refused before the CPU of others is used up.
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
  readonly #hardMs: number;
  readonly #meter: CpuMeter;
  readonly #callers = new CallerKeys();
  /** Requests that compute, by caller. */
  readonly #computing = new Map<string, number>();
  #computingCount = 0;
  #endedCount = 0;
  /** CPU at the end of the first request, which also loads modules and connects. */
  #usedByFirstMs = 0;
  /** By caller, in the order of their turns. */
  readonly #waiting = new Map<string, (() => void)[]>();
  #looking: ReturnType<typeof setInterval> | undefined;

  constructor(
    { softMs, hardMs }: { readonly softMs: number; readonly hardMs: number },
    meter: CpuMeter,
  ) {
    this.#softMs = softMs;
    this.#hardMs = hardMs;
    this.#meter = meter;
  }

  async admit(answer: () => Promise<Response>, request?: Request): Promise<Response> {
    const caller = request === undefined ? "" : this.#callers.keyOf(request);
    // It has just been sent, so the isolate was not retired, whatever the meter says. Requests that
    // arrive together may have been sent earlier.
    if (this.#computingCount === 0) this.#meter.limitTo(this.#softMs);
    if (this.#computingCount >= MAX_COMPUTING || !this.#mayCompute(caller)) {
      await this.#takeTurn(caller);
    }
    if (!this.#canFinishOneMore(caller)) {
      this.#giveTurn();
      throw busy();
    }
    const end = this.#begin(caller);
    try {
      const response = await answer();
      if (request !== undefined) this.#callers.note(request, response);
      if (isEventStream(response)) return endingWith(response, end);
      end();
      return response;
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Counts a request until the returned function is called. */
  #begin(caller: string): () => void {
    let isComputing = true;
    let hasEnded = false;
    this.#countComputing(caller, 1);
    const stopComputing = () => {
      if (!isComputing) return;
      isComputing = false;
      this.#countComputing(caller, -1);
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

  #countComputing(caller: string, change: 1 | -1): void {
    this.#computingCount += change;
    const count = this.#computingOf(caller) + change;
    if (count === 0) this.#computing.delete(caller);
    else this.#computing.set(caller, count);
  }

  #computingOf(caller: string): number {
    return this.#computing.get(caller) ?? 0;
  }

  #mayCompute(caller: string): boolean {
    return this.#computingOf(caller) < MAX_COMPUTING_OF_ONE;
  }

  #canFinishOneMore(caller: string): boolean {
    const requestCount = this.#computingOf(caller) + (this.#waiting.get(caller)?.length ?? 0);
    const share = requestCount < CROWD ? REFUSE_SHARE : CROWD_REFUSE_SHARE;
    const usedMs = this.#meter.usedMs();
    const knownCount = this.#endedCount - 1;
    const costMs = knownCount < KNOWN_AFTER
      ? USUAL_COST_MS
      : (usedMs - this.#usedByFirstMs) / knownCount;
    return usedMs + (this.#computingCount + 1) * costMs <= share * this.#hardMs;
  }

  /** Gives the turn to the next caller that may compute, or when the isolate is idle to the next. */
  #giveTurn({ isIdle = false } = {}): void {
    const callers = [...this.#waiting.keys()];
    const caller = callers.find((caller) => this.#mayCompute(caller)) ??
      (isIdle ? callers[0] : undefined);
    if (caller === undefined) return;
    const [first, ...others] = this.#waiting.get(caller) ?? [];
    // Its other requests wait until all other callers had a turn.
    this.#waiting.delete(caller);
    if (others.length > 0) this.#waiting.set(caller, others);
    first?.();
  }

  /** Waits until an earlier request has ended, or all of them wait for something themselves. */
  async #takeTurn(caller: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, MAX_WAIT_MS);
    this.#waiting.set(caller, [...this.#waiting.get(caller) ?? [], resolve]);
    this.#looking ??= this.#look();
    await promise;
    clearTimeout(timer);
    this.#leave(caller, resolve);
    if (this.#waiting.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Removes a request that waited for too long, and has had no turn. */
  #leave(caller: string, resolve: () => void): void {
    const others = this.#waiting.get(caller)?.filter((other) => other !== resolve) ?? [];
    if (others.length > 0) this.#waiting.set(caller, others);
    else this.#waiting.delete(caller);
  }

  /** Gives turns whenever the isolate is idle: requests that wait do not hold up others. */
  #look(): ReturnType<typeof setInterval> {
    let lastMs = this.#meter.usedMs();
    return setInterval(() => {
      const usedMs = this.#meter.usedMs();
      const isIdle = usedMs - lastMs < IDLE_CPU_MS;
      lastMs = usedMs;
      for (let turn = 0; isIdle && turn < MAX_COMPUTING; turn++) this.#giveTurn({ isIdle });
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
