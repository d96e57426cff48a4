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
 * duration of the isolate's turns, which is too high while other programs compete for the core.
 * Therefore each proof that it is too high also corrects what it measures later. The thread's CPU
 * time needs no correction: a request that arrives after the limit was sent before it.
 *
 * @param given Reads milliseconds of CPU. @default the thread's CPU time, or that of its turns
 */
export function createCpuMeter(given?: () => number): CpuMeter {
  const ofThread = given === undefined ? threadReader() : null;
  const readMs = given ?? ofThread ?? turnReader();
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
    burn(durationMs) {
      const endMs = performance.now() + durationMs;
      while (performance.now() < endMs);
    },
  };
}

/**
 * Starts to measure this isolate, before its app opens connections.
 *
 * @returns a function to call when a request arrives.
 */
export function startMetering(): () => void {
  return threadReader() === null ? isolateTurns().begin : () => {};
}

function turnReader(): () => number {
  return isolateTurns().usedMs;
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
