import { Socket } from "node:net";
import process from "node:process";
import { lazily } from "../values/lazily.ts";
import { CoreShare } from "./core_share.ts";

/** The time in which an isolate computes. */
export interface TurnClock {
  /** Milliseconds since the clock was created. */
  usedMs(): number;
  /** Notes that a wait has ended and the isolate computes. */
  begin(): void;
  /** Computes for this long. */
  burn(durationMs: number): void;
}

/** What a turn clock reads. */
export interface TurnClockOptions {
  readonly nowMs: () => number;
  /** Calls back when no JavaScript is left to run without waiting. */
  readonly afterTurn: (callback: () => void) => void;
}

/**
 * What the runtime itself spends outside JavaScript: for each turn, because it polls sockets and
 * decodes what has arrived, and for each millisecond of a turn, because it loads modules and collects
 * garbage. Measured with Deno 2.1.4.
 */
const RUNTIME_MS_PER_TURN = 0.03;
const RUNTIME_SHARE = 0.3;

/** Each time after so much computing, a sample tells whether other programs compete for the core. */
const SAMPLED_MS = 10;
const SAMPLE_MS = 0.2;

/**
 * Creates a clock of an isolate's turns. A turn begins when the first of the isolate's waits ends,
 * and ends when all that follows from it has run, so its duration is CPU time, except for the share
 * in which other programs have the core.
 */
export function createTurnClock({ nowMs, afterTurn }: TurnClockOptions): TurnClock {
  const share = new CoreShare(nowMs);
  let endedMs = 0;
  let sampledAtMs = 0;
  let beganAtMs: number | null = null;
  const runningMs = () => beganAtMs === null ? 0 : (nowMs() - beganAtMs) * share.value;
  const end = () => {
    // A sample within the turn, because the thread that has just woken up gets a core soonest.
    if (share.isMeasurable && endedMs + runningMs() - sampledAtMs >= SAMPLED_MS) {
      share.compute(SAMPLE_MS);
      sampledAtMs = endedMs + runningMs();
    }
    endedMs += runningMs() * (1 + RUNTIME_SHARE) + RUNTIME_MS_PER_TURN;
    beganAtMs = null;
  };
  return {
    usedMs: () => endedMs + runningMs(),
    begin() {
      if (beganAtMs !== null) return;
      beganAtMs = nowMs();
      afterTurn(end);
    },
    burn: (durationMs) => share.compute(durationMs),
  };
}

/** The clock of this isolate's turns; observes them from the first call on. */
export const isolateTurns: () => TurnClock = lazily(() => {
  const clock = createTurnClock({
    nowMs: () => performance.now(),
    // Runs after the promises that are settled now, and after all that they settle.
    afterTurn: (callback) => process.nextTick(callback),
  });
  observeWaits(clock.begin);
  return clock;
});

const BODY_METHODS = ["arrayBuffer", "blob", "bytes", "formData", "json", "text"];
const CRYPTO_METHODS = [
  "decrypt",
  "deriveBits",
  "deriveKey",
  "digest",
  "encrypt",
  "exportKey",
  "generateKey",
  "importKey",
  "sign",
  "unwrapKey",
  "verify",
  "wrapKey",
];

/** Calls `begin` whenever one of the isolate's waits ends: requests, streams, sockets, timers. */
function observeWaits(begin: () => void): void {
  observeCallbacks(globalThis, ["setTimeout", "setInterval"], begin);
  observePromises(globalThis, ["fetch"], begin);
  observePromises(Request.prototype, BODY_METHODS, begin);
  observePromises(Response.prototype, BODY_METHODS, begin);
  observePromises(SubtleCrypto.prototype, CRYPTO_METHODS, begin);
  observePromises(ReadableStreamDefaultReader.prototype, ["read"], begin);
  observePromises(ReadableStreamBYOBReader.prototype, ["read"], begin);
  observePromises(streamIteratorPrototype(), ["next"], begin);
  observeCalls(Socket.prototype, ["push"], begin);
}

/** What "for await" calls on a stream; it reads without a reader's methods. */
function streamIteratorPrototype(): object {
  return Object.getPrototypeOf(new ReadableStream()[Symbol.asyncIterator]());
}

type Method = (this: unknown, ...args: unknown[]) => unknown;

function replace(owner: object, name: string, around: (method: Method) => Method): void {
  const method: unknown = Reflect.get(owner, name);
  if (typeof method === "function") Reflect.set(owner, name, around(method as Method));
}

/** Functions that are called when something has arrived. */
function observeCalls(owner: object, names: readonly string[], begin: () => void): void {
  for (const name of names) {
    replace(owner, name, (method) =>
      function (this: unknown, ...args) {
        begin();
        return Reflect.apply(method, this, args);
      });
  }
}

/** Functions whose first argument is called later. */
function observeCallbacks(owner: object, names: readonly string[], begin: () => void): void {
  for (const name of names) {
    replace(owner, name, (method) =>
      function (this: unknown, callback, ...args) {
        if (typeof callback !== "function") return Reflect.apply(method, this, [callback, ...args]);
        const observed = (...values: unknown[]) => {
          begin();
          Reflect.apply(callback, globalThis, values);
        };
        return Reflect.apply(method, this, [observed, ...args]);
      });
  }
}

/** Functions that return a promise. */
function observePromises(owner: object, names: readonly string[], begin: () => void): void {
  for (const name of names) {
    replace(owner, name, (method) =>
      function (this: unknown, ...args) {
        const result = Reflect.apply(method, this, args);
        // The first reaction to the promise runs before those of the caller.
        if (result instanceof Promise) result.then(begin, begin);
        return result;
      });
  }
}
