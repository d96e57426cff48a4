import assert from "node:assert/strict";
import process from "node:process";

/** The event loop may stand still for this long, in processor time of its own thread. */
const MAX_BLOCKED_MS = 200;
/** Somebody else's call in the meantime takes no longer. */
const MAX_BYSTANDER_MS = 1_000;
/** A pause of the garbage collector or of a busy machine does not come back each time. */
const TRIES = 4;
const BEAT_MS = 5;

interface Measured {
  readonly blockedMs: number;
  readonly bystanderMs: number;
}

/**
 * Runs what may block the event loop, beside a bystander's call, and fails when one of the two takes
 * too long each time.
 */
export async function assertDoesNotBlock(
  name: string,
  run: () => Promise<unknown>,
  bystander: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const tries: Measured[] = [];
  for (let count = 0; count < TRIES; count++) {
    const measured = await measure(run, bystander);
    if (measured.blockedMs <= MAX_BLOCKED_MS && measured.bystanderMs <= MAX_BYSTANDER_MS) return;
    tries.push(measured);
  }
  assert.fail(`${name} blocks: ${JSON.stringify(tries)}`);
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

/** How long the event loop of this thread stood still at most. */
interface LoopWatch extends Disposable {
  /** Milliseconds of processor time in the longest span without a turn; never more than the span. */
  readonly longestMs: number;
}

/**
 * What counts of a span is the processor time that its thread used: on a busy machine a thread
 * stands still through no fault of its own.
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
