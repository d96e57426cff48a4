import assert from "node:assert/strict";
import process from "node:process";

/**
 * The longest time the event loop may block, in CPU time of its thread: four times the 50 ms that
 * one request may take, because memory and caches of a busy machine are shared.
 */
export const MAX_STEP_MS = 200;
/** The longest time another caller's call may take meanwhile. */
const MAX_BYSTANDER_MS = 1_000;
/** A garbage collection or a busy machine does not delay every run. */
const TRIES = 4;
const BEAT_MS = 5;

interface Measured {
  readonly blockedMs: number;
  readonly bystanderMs: number;
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
    if (measured.blockedMs <= MAX_STEP_MS && measured.bystanderMs <= MAX_BYSTANDER_MS) return;
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
    least = Math.min(least, watch.longestMs);
  }
  return least;
}

async function measure(
  run: () => Promise<unknown>,
  bystander: () => Promise<unknown>,
): Promise<Measured> {
  using watch = watchLoop();
  const startedAtMs = performance.now();
  const [, bystanderMs] = await Promise.all([
    run(),
    bystander().then(() => performance.now() - startedAtMs),
  ]);
  return { blockedMs: watch.longestMs, bystanderMs };
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

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
