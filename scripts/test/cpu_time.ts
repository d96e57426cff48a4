import process from "node:process";

/**
 * CPU time of {@linkcode computeReference}, once it is compiled, on the machine for which limits of
 * CPU time are written: two shared cores without other work.
 */
const REFERENCE_MS = 50;
/** Runs after which it is compiled. */
const WARM_RUNS = 4;
const TEXTS = 30_000;
const RUNS = 4;

/** CPU time that this thread has used, in milliseconds. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Milliseconds of CPU time that a limit can be compared with on any machine. What exceeds its limit
 * is divided by how much slower than expected a known computation runs at this moment, because a slow
 * processor, or one that shares its caches with other work, takes longer for everything.
 */
export function comparableMs(measuredMs: number, limitMs: number): number {
  return measuredMs <= limitMs ? measuredMs : measuredMs / slowness();
}

/** What a computation returns, and the CPU time that it takes. */
interface Timed<T> {
  readonly value: T;
  /** As {@linkcode comparableMs}. */
  readonly cpuMs: number;
}

/**
 * Measures a computation: the first run, or the fastest of several if it takes too long, because a
 * garbage collection does not delay every run.
 */
export function timed<T>(compute: () => T, limitMs: number): Timed<T> {
  const run = (): Timed<T> => {
    const beganAtMs = threadCpuMs();
    const value = compute();
    return { value, cpuMs: comparableMs(threadCpuMs() - beganAtMs, limitMs) };
  };
  let fastest = run();
  for (let count = 1; count < RUNS && fastest.cpuMs > limitMs; count++) {
    const next = run();
    if (next.cpuMs < fastest.cpuMs) fastest = next;
  }
  return fastest;
}

let warmRuns = 0;

/** How many times longer a known computation takes than expected, in the fastest run; at least 1. */
export function slowness(): number {
  for (; warmRuns < WARM_RUNS; warmRuns++) computeReference();
  const times = Array.from({ length: RUNS }, () => {
    const beganAtMs = threadCpuMs();
    computeReference();
    return threadCpuMs() - beganAtMs;
  });
  return Math.max(1, Math.min(...times) / REFERENCE_MS);
}

/** Work like that of parsers and encoders: texts, patterns, maps, documents and sorting. */
function computeReference(): number {
  const texts = Array.from({ length: TEXTS }, (_, at) => `name_${at * 7_919 % TEXTS} = "${at}"`);
  const counts = new Map<string, number>();
  for (const text of texts) {
    const word = text.replace(/[_="]/g, "\\$&").replace(/\d+/, "0").toUpperCase();
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const documents = JSON.parse(JSON.stringify(texts.map((text, at) => ({ text, at, list: [at] }))));
  const sorted = documents.toSorted((a: { text: string }, b: { text: string }) =>
    a.text < b.text ? -1 : 1
  );
  return counts.size + sorted.length;
}
