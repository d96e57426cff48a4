import process from "node:process";

/** CPU cost of each kind of work, in milliseconds on the machine of {@linkcode REFERENCE_MS}. */
const CPU_COST_MS = {
  /** One call of the database: the statement, the socket, the rows. */
  query: 2,
  /** A claimed task: its context, its tools, its first prompt. */
  task: 14,
  /** A model call: the request with its prompt and schemas, the answer, the connection. */
  modelCall: 18,
  /** The first call of a provider also loads its SDK. */
  modelSdk: 60,
  /** A call through the gateway. */
  toolCall: 12,
  /** A read of a streamed answer. */
  streamLook: 0.8,
  /** A chunk of a streamed answer: read, parsed, passed on. */
  streamPiece: 0.09,
  /** One second of idle time: timers, the garbage collector. */
  second: 1,
} as const;

/** The kinds of work that are counted. */
export type CpuCost = keyof typeof CPU_COST_MS;

/** The CPU that this isolate has used. */
export interface CpuMeter {
  /** Milliseconds since the meter was created; errs on the high side. */
  usedMs(): number;
  charge(cost: CpuCost, count?: number): void;
  /** Counts milliseconds of work that were measured. */
  count(durationMs: number): void;
  /** Uses CPU, and counts it. */
  burn(durationMs: number): void;
  /** Calls `listener` once when this much is used, at the next counted work. */
  onReach(usedMs: number, listener: () => void): void;
}

/** The data sources of a meter. */
export interface CpuMeterOptions {
  /** CPU of the isolate's thread in milliseconds; null if the runtime does not report it. */
  readonly readThreadMs: (() => number) | null;
  readonly nowMs: () => number;
  /** How much slower than the reference this machine is. */
  readonly slowness: number;
}

/**
 * Creates the meter of this isolate.
 *
 * Newer runtimes report a thread's CPU time. The edge runtime does not: there the meter counts
 * units of work, each at its known cost, scaled by the machine's speed.
 */
export function createCpuMeter(options: Partial<CpuMeterOptions> = {}): CpuMeter {
  const { readThreadMs = threadReader(), nowMs = () => performance.now() } = options;
  const slowness = options.slowness ?? (readThreadMs === null ? measureSlowness() : 1);
  const beganAtMs = nowMs();
  const baseMs = readThreadMs?.() ?? 0;
  let countedMs = 0;
  let listeners: { readonly usedMs: number; readonly listener: () => void }[] = [];

  const usedMs = () => {
    if (readThreadMs !== null) return readThreadMs() - baseMs;
    return countedMs + (nowMs() - beganAtMs) / 1_000 * CPU_COST_MS.second * slowness;
  };
  const tell = () => {
    if (listeners.length === 0) return;
    const used = usedMs();
    const reached = listeners.filter((entry) => entry.usedMs <= used);
    listeners = listeners.filter((entry) => entry.usedMs > used);
    for (const { listener } of reached) listener();
  };
  return {
    usedMs,
    charge(cost, count = 1) {
      countedMs += CPU_COST_MS[cost] * count * slowness;
      tell();
    },
    count(durationMs) {
      countedMs += durationMs;
      tell();
    },
    burn(durationMs) {
      let burntMs = 0;
      while (burntMs < durationMs) burntMs += burnOnce();
      countedMs += burntMs;
      tell();
    },
    onReach(reachedMs, listener) {
      listeners.push({ usedMs: reachedMs, listener });
      tell();
    },
  };
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

/** Duration of the sample on the machine where the costs were measured. */
const REFERENCE_MS = 0.09;
const SAMPLE = Array.from(
  { length: 500 },
  (_, index) => ({ index, text: `piece ${index}`, list: [index, null] }),
);

let fastestBurnMs = Infinity;

/**
 * Estimates CPU time by counting: on a busy machine, wall clock time would be too high.
 */
function burnOnce(): number {
  const beganAtMs = performance.now();
  let value = beganAtMs | 0;
  for (let round = 0; round < 200_000; round++) {
    value = Math.imul(value ^ round, 2_654_435_761) >>> 3;
  }
  if (value === -1) throw new RangeError("a shifted number is never negative");
  fastestBurnMs = Math.max(0.05, Math.min(fastestBurnMs, performance.now() - beganAtMs));
  return fastestBurnMs;
}

/** Runs a sample of the usual work; the fastest of a few runs is the least disturbed. */
function measureSlowness(): number {
  const runs = Array.from({ length: 5 }, () => {
    const beganAtMs = performance.now();
    JSON.stringify(SAMPLE);
    return performance.now() - beganAtMs;
  });
  return Math.min(4, Math.max(0.5, Math.min(...runs) / REFERENCE_MS));
}
