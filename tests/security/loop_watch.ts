import process from "node:process";

/** How long the event loop of this process stood still at most. */
export interface LoopWatch extends Disposable {
  /** Milliseconds of CPU time in the longest span without a turn; never more than the span itself. */
  readonly longestMs: number;
}

const BEAT_MS = 5;

/**
 * Watches the event loop. What counts of a span is the processor time that this process used in it:
 * on a busy machine a process stands still through no fault of its own.
 */
export function watchLoop(): LoopWatch {
  let longestMs = 0;
  let lastMs = performance.now();
  let lastCpu = process.cpuUsage();
  const beat = () => {
    const nowMs = performance.now();
    const cpu = process.cpuUsage(lastCpu);
    const usedMs = (cpu.user + cpu.system) / 1_000;
    longestMs = Math.max(longestMs, Math.min(nowMs - lastMs, usedMs));
    lastMs = nowMs;
    lastCpu = process.cpuUsage();
  };
  const timer = setInterval(beat, BEAT_MS);
  return {
    get longestMs() {
      beat();
      return longestMs;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
