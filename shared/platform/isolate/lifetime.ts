import type { CpuMeter } from "./cpu_meter.ts";

/**
 * What a worker may still do, depending on the elapsed share of its isolate's lifetime, in wall
 * clock or CPU time, whichever is higher:
 *
 * - `open`: claim tasks and run them.
 * - `draining`: run current tasks. The platform sends no more requests to a retired isolate.
 * - `closing`: start no further step.
 * - `over`: return running tasks. The platform warns at nine tenths and kills the isolate at the
 * end.
 */
export type LifePhase = "open" | "draining" | "closing" | "over";

/** At this share of the wall clock the platform retires the isolate. */
const RETIRED_SHARE = 0.5;
/** Just after that: a worker that stops claiming earlier still gets the wake-ups. */
const OPEN_SHARE = 0.52;
const CLOSING_SHARE = 0.75;
const OVER_SHARE = 0.85;
/** A call that runs alone gets most of a lifetime. */
const YOUNG_SHARE = 0.25;

/**
 * Share of the soft limit that a worker may use after a request has shown that its isolate is not
 * retired, although the meter says so.
 */
const CPU_REOPENED_SHARE = 0.1;
/** Share of the hard limit. */
const CPU_CLOSING_SHARE = 0.75;
const CPU_OVER_SHARE = 0.85;
/** Until just before the platform's warning. */
const CPU_WAIT_SHARE = 0.89;
/** Share of the soft limit. */
const CPU_YOUNG_SHARE = 0.4;
/** CPU of one turn of a task: to record an answer and to ask again, or to return the task. */
const CPU_OF_HELD_MS = 10;
/**
 * A streamed answer of a thousand chunks, with the messages to its watchers: reserved for each until
 * an answer has ended and its cost is known.
 */
const CPU_OF_STREAM_MS = 200;
/** An answer of three thousand chunks that is read twice a second. */
const CPU_OF_LONG_STREAM_MS = 350;

/** The tasks that a worker holds. */
export interface HeldLoad {
  readonly count: number;
  /** Number of answers that stream. */
  readonly streamCount: number;
}

/** The CPU limits of an isolate over its whole lifetime. */
export interface CpuLimits {
  /** After this it gets no new requests. */
  readonly softMs: number;
  /** At this point it is killed. */
  readonly hardMs: number;
  readonly meter: CpuMeter;
}

/** The phases of one isolate's lifetime. */
export interface Lifetime {
  phaseAt(nowMs: number): LifePhase;
  /** Milliseconds from `nowMs` until claiming must stop. */
  openForMs(nowMs: number): number;
  /** Milliseconds from `nowMs` until running tasks must be returned. */
  overInMs(nowMs: number): number;
  /** How much more work the remaining CPU allows. */
  roomBeside(held: HeldLoad): number;
  /** Whether the remaining CPU allows one more streamed answer; otherwise it arrives whole. */
  mayStream(held: HeldLoad): boolean;
  /**
   * Whether answers that arrive whole may still be awaited when the phase is `over`: that costs no
   * CPU until they arrive.
   */
  mayWait(nowMs: number, held: HeldLoad): boolean;
  /** Whether the rest of the CPU is needed to end the answers that stream. */
  isNeededByStreams(held: HeldLoad): boolean;
  /**
   * Whether streams must cost less: the CPU up to the soft limit is used, or long answers of all
   * that stream would need more than is left.
   */
  isShortOfCpu(held: HeldLoad): boolean;
  /** Notes what a streamed answer has cost, in milliseconds of CPU. */
  noteStream(cpuMs: number): void;
  /** Whether enough of the lifetime is left for a call that another isolate could not finish. */
  isYoung(nowMs: number): boolean;
  /**
   * Notes a request at `nowMs`. Only an isolate that is not retired gets one, so it has used at most
   * half of its wall clock and no more CPU than the soft limit, whatever settings and meter say.
   */
  noteRequest(nowMs: number): void;
  /**
   * Ends the lifetime at `atMs`, if it does not end earlier: from now on, running work ends after its
   * current step.
   */
  endAt(atMs: number): void;
  /** False for a process, which lives until it is stopped. */
  readonly isLimited: boolean;
  /** Null if CPU is not limited. */
  readonly cpu: CpuLife | null;
}

/** The part of a lifetime that is measured in CPU time. */
export interface CpuLife {
  /** Milliseconds of CPU that the isolate has used. */
  usedMs(): number;
  /**
   * Uses up the CPU up to the soft limit, if the held tasks allow it: the platform starts another
   * isolate only when this one is retired, and only CPU use retires it early.
   */
  retire(held: HeldLoad): Promise<void>;
}

/**
 * Divides an isolate's lifetime into phases.
 *
 * @param wallClockSeconds Seconds that the platform lets the isolate live, from its start at 0;
 * Infinity for a process.
 * @param cpuLimits Absent if CPU is not limited.
 */
export function createLifetime(wallClockSeconds: number, cpuLimits?: CpuLimits): Lifetime {
  let wallClockMs = wallClockSeconds * 1_000;
  const at = (share: number) => share * wallClockMs;
  const until = (share: number, nowMs: number) => Math.max(0, at(share) - nowMs);
  const cpu = cpuLimits === undefined ? null : divideCpu(cpuLimits);
  let longestStreamMs: number | null = null;
  let endMs = Infinity;
  const streamsMs = (count: number) => count * (longestStreamMs ?? CPU_OF_STREAM_MS);
  const reservedMs = ({ count, streamCount }: HeldLoad) => {
    return count * CPU_OF_HELD_MS + streamsMs(streamCount);
  };
  return {
    phaseAt(nowMs) {
      const usedMs = cpu?.usedMs() ?? 0;
      const isPast = (share: number, cpuMs = Infinity) => nowMs >= at(share) || usedMs >= cpuMs;
      if (nowMs >= endMs) return "over";
      if (isPast(OVER_SHARE, cpu?.overMs)) return "over";
      if (endMs < Infinity || isPast(CLOSING_SHARE, cpu?.closingMs)) return "closing";
      return isPast(OPEN_SHARE, cpu?.openMs) ? "draining" : "open";
    },
    openForMs: (nowMs) => endMs < Infinity ? 0 : until(OPEN_SHARE, nowMs),
    overInMs: (nowMs) => Math.min(until(OVER_SHARE, nowMs), Math.max(0, endMs - nowMs)),
    roomBeside(held) {
      if (cpu === null) return Infinity;
      // The worker can then use up the CPU up to the soft limit, so that another isolate starts.
      const leftMs = cpu.closingMs - Math.max(cpu.usedMs(), cpu.softMs) - reservedMs(held);
      return Math.max(0, Math.floor(leftMs / CPU_OF_HELD_MS));
    },
    mayStream({ count, streamCount }) {
      if (cpu === null) return true;
      return cpu.closingMs - cpu.usedMs() >= reservedMs({ count, streamCount: streamCount + 1 });
    },
    mayWait(nowMs, { count }) {
      if (cpu === null || nowMs >= at(OVER_SHARE)) return false;
      return cpu.usedMs() + count * CPU_OF_HELD_MS < cpu.waitMs;
    },
    isNeededByStreams({ streamCount }) {
      if (cpu === null || streamCount === 0) return false;
      return cpu.overMs - cpu.usedMs() < streamsMs(streamCount);
    },
    isShortOfCpu({ streamCount }) {
      if (cpu === null) return false;
      const neededMs = streamCount * CPU_OF_LONG_STREAM_MS;
      return cpu.usedMs() >= Math.min(cpu.softMs, cpu.closingMs - neededMs);
    },
    isYoung: (nowMs) => nowMs < at(YOUNG_SHARE) && (cpu?.usedMs() ?? 0) < (cpu?.youngMs ?? 1),
    endAt(atMs) {
      endMs = atMs;
    },
    isLimited: wallClockSeconds < Infinity,
    noteStream(cpuMs) {
      longestStreamMs = Math.max(longestStreamMs ?? 0, cpuMs);
    },
    noteRequest(nowMs) {
      wallClockMs = Math.max(wallClockMs, nowMs / RETIRED_SHARE);
      if (cpuLimits === undefined || cpu === null) return;
      const { meter, softMs } = cpuLimits;
      meter.limitTo(softMs);
      const reopenedMs = meter.usedMs() + CPU_REOPENED_SHARE * softMs;
      cpu.openMs = Math.min(cpu.closingMs, Math.max(cpu.openMs, reopenedMs));
    },
    cpu: cpu === null ? null : {
      usedMs: cpu.usedMs,
      retire: (held) => retire(cpu, reservedMs(held)),
    },
  };
}

type DividedCpu = ReturnType<typeof divideCpu>;

function divideCpu({ softMs, hardMs, meter }: CpuLimits) {
  const closingMs = CPU_CLOSING_SHARE * hardMs;
  return {
    usedMs: meter.usedMs,
    burn: meter.burn,
    softMs: Math.min(softMs, closingMs),
    youngMs: CPU_YOUNG_SHARE * softMs,
    openMs: Math.min(softMs, closingMs),
    closingMs,
    overMs: CPU_OVER_SHARE * hardMs,
    waitMs: CPU_WAIT_SHARE * hardMs,
  };
}

const BURN_SLICE_MS = 15;

async function retire(cpu: DividedCpu, reservedMs: number): Promise<void> {
  const { usedMs, burn, openMs, closingMs } = cpu;
  // Less would not retire the isolate.
  if (openMs > closingMs - reservedMs) return;
  while (usedMs() < openMs) {
    burn(BURN_SLICE_MS);
    // Streams and heartbeats continue between two slices.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
