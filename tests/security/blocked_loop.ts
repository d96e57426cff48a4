import assert from "node:assert/strict";
import { comparableMs, threadCpuMs } from "../../scripts/test/cpu_time.ts";

/**
 * The longest time the event loop may block here, in CPU time of its thread. The product keeps
 * within 200 ms on an idle machine. This is three times as long, because shared machines measure the
 * same work twice as long at times; work that grows with the square of its input takes seconds.
 */
export const MAX_STEP_MS = 600;
/**
 * The longest time another caller's call may take meanwhile; where it takes long without anything
 * beside it, this many times as long.
 */
const MAX_BYSTANDER_MS = 5_000;
const MAX_BYSTANDER_TIMES = 10;
/** A garbage collection or a busy machine does not delay every run. */
const TRIES = 4;
const BEAT_MS = 5;

interface Measured {
  readonly blockedMs: number;
  readonly bystanderMs: number;
  /** What the bystander's call takes alone, if it took long. */
  readonly aloneMs: number;
}

/**
 * Runs code that may block the event loop in parallel with a bystander's call, and fails if either
 * of them takes too long in every run.
 */
export async function assertDoesNotBlock(
  name: string,
  run: () => Promise<unknown>,
  bystander: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const tries: Measured[] = [];
  for (let count = 0; count < TRIES; count++) {
    const measured = await measure(run, bystander);
    const { blockedMs, bystanderMs, aloneMs } = measured;
    const maxBystanderMs = Math.max(MAX_BYSTANDER_MS, MAX_BYSTANDER_TIMES * aloneMs);
    if (blockedMs <= MAX_STEP_MS && bystanderMs <= maxBystanderMs) return;
    tries.push(measured);
  }
  assert.fail(`${name} blocks: ${JSON.stringify(tries)}`);
}

/**
 * The longest span of CPU time between two turns of the event loop while this code runs: the least
 * of several runs if it is too long, because a garbage collection does not delay every run.
 */
export async function longestStepMs(run: () => unknown): Promise<number> {
  let least = Infinity;
  for (let count = 0; count < TRIES && least > MAX_STEP_MS; count++) {
    using watch = watchLoop();
    await run();
    least = Math.min(least, comparableMs(watch.longestMs, MAX_STEP_MS));
  }
  return least;
}

async function measure(
  run: () => Promise<unknown>,
  bystander: () => Promise<unknown>,
): Promise<Measured> {
  const watch = watchLoop();
  let longestMs: number;
  let bystanderMs: number;
  try {
    [, bystanderMs] = await Promise.all([run(), timeOf(bystander)]);
    longestMs = watch.longestMs;
  } finally {
    watch[Symbol.dispose]();
  }
  return {
    blockedMs: comparableMs(longestMs, MAX_STEP_MS),
    bystanderMs,
    aloneMs: bystanderMs > MAX_BYSTANDER_MS ? await timeOf(bystander) : 0,
  };
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await run();
  return performance.now() - startedAtMs;
}

/** The longest time that the event loop of this thread was blocked. */
interface LoopWatch extends Disposable {
  /** Milliseconds of CPU time in the longest span without a turn; never more than the span. */
  readonly longestMs: number;
}

/**
 * Only the CPU time of the thread counts: on a busy machine a thread
 * also waits for the processor.
 */
function watchLoop(): LoopWatch {
  let longestMs = 0;
  let lastMs = performance.now();
  let lastCpuMs = threadCpuMs();
  const beat = () => {
    const [nowMs, cpuMs] = [performance.now(), threadCpuMs()];
    longestMs = Math.max(longestMs, Math.min(nowMs - lastMs, cpuMs - lastCpuMs));
    lastMs = nowMs;
    lastCpuMs = cpuMs;
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
