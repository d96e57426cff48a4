import process from "node:process";
import { isolateTurns } from "./turn_clock.ts";

/** The CPU that this isolate has used. */
export interface CpuMeter {
  /** Milliseconds since the meter was created. */
  usedMs(): number;
  /** Corrects the meter by a proof that no more than this has been used. */
  limitTo(usedMs: number): void;
  /** Uses CPU for about this long. */
  burn(durationMs: number): void;
}

/**
 * The other programs may end. With a lower share, an isolate that was corrected to its soft limit
 * would reach its hard limit before it noticed.
 */
const LEAST_SHARE = 0.75;

/**
 * Creates the meter of this isolate.
 *
 * Newer runtimes report a thread's CPU time. The edge runtime does not: there the meter measures the
 * isolate's turns and estimates in which part of them it had a core. Each proof that this is too
 * high also corrects what it measures later. The thread's CPU time needs no correction: a request
 * that arrives after the limit was sent before it.
 *
 * @param given Reads milliseconds of CPU. @default the thread's CPU time, or that of its turns
 */
export function createCpuMeter(given?: () => number): CpuMeter {
  const ofThread = given === undefined ? threadReader() : null;
  const reader = given ?? ofThread;
  const { usedMs: readMs, burn } = reader === null
    ? isolateTurns()
    : { usedMs: reader, burn: compute };
  let measuredMs = readMs();
  let usedMs = 0;
  let share = 1;
  const read = () => {
    const nowMs = readMs();
    usedMs += (nowMs - measuredMs) * share;
    measuredMs = nowMs;
    return usedMs;
  };
  return {
    usedMs: read,
    limitTo(provenMs) {
      if (ofThread !== null || read() <= provenMs) return;
      share = Math.max(LEAST_SHARE, share * provenMs / usedMs);
      usedMs = provenMs;
    },
    burn,
  };
}

function compute(durationMs: number): void {
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs);
}

/**
 * Starts to measure this isolate, before its app opens connections.
 *
 * @returns a function to call when a request arrives.
 */
export function startMetering(): () => void {
  return threadReader() === null ? isolateTurns().begin : () => {};
}

/** Node's CPU time of the calling thread, if it is available and advances. */
function threadReader(): (() => number) | null {
  const read: unknown = Reflect.get(process, "threadCpuUsage");
  if (typeof read !== "function") return null;
  const readMs = () => {
    const { user, system } = read.call(process);
    return (user + system) / 1_000;
  };
  return readMs() > 0 ? readMs : null;
}
