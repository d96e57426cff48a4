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

const OPEN_SHARE = 0.45;
/** Just after the halfway point at which new requests go to another isolate. */
const RETIRED_SHARE = 0.52;
const CLOSING_SHARE = 0.75;
const OVER_SHARE = 0.85;
/** A call that runs alone gets most of a lifetime. */
const YOUNG_SHARE = 0.25;

/**
 * Share of the soft limit. Until the platform has retired the isolate, it sends every wake-up here,
 * so the worker claims until retirement is certain, even if its meter overestimates.
 */
const CPU_OPEN_SHARE = 1.2;
/** Share of the hard limit. */
const CPU_CLOSING_SHARE = 0.75;
const CPU_OVER_SHARE = 0.85;
/** Share of the soft limit. */
const CPU_YOUNG_SHARE = 0.4;
/** CPU to stop running tasks, record them and return them. */
const CPU_OF_HELD_MS = 60;
/** A streamed answer of three thousand chunks, with the messages to its watchers. */
const CPU_OF_STREAM_MS = 420;

/** The tasks that a worker holds. */
export interface HeldLoad {
  readonly count: number;
  /** Number of watched tasks, whose answers stream. */
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
  /** Milliseconds from `nowMs` until a wake-up reaches a different isolate. */
  retiredInMs(nowMs: number): number;
  /** Milliseconds from `nowMs` until running tasks must be returned. */
  overInMs(nowMs: number): number;
  /** How much more work the remaining CPU allows. */
  roomBeside(held: HeldLoad): number;
  /** Whether enough of the lifetime is left for a call that another isolate could not finish. */
  isYoung(nowMs: number): boolean;
  /** Whether CPU, not time, is the reason why claiming has stopped. */
  isCpuSpent(): boolean;
  /** Null if CPU is not limited. */
  readonly cpu: CpuLife | null;
}

/** The part of a lifetime that is measured in CPU time. */
export interface CpuLife {
  /** Milliseconds of CPU that the isolate has used; errs on the high side. */
  usedMs(): number;
  /**
   * Uses up the CPU up to the soft limit, as far as the held tasks allow: the platform starts
   * another isolate only when this one is retired, and only CPU use retires it early.
   */
  retire(held: HeldLoad): Promise<void>;
  /** Calls `listener` when the phase changes. */
  onPhase(phase: "draining" | "over", listener: () => void): void;
}

/**
 * Divides an isolate's lifetime into phases.
 *
 * @param wallClockSeconds Seconds that the platform lets the isolate live, from its start at 0.
 * @param cpuLimits Absent if CPU is not limited.
 */
export function createLifetime(wallClockSeconds: number, cpuLimits?: CpuLimits): Lifetime {
  const at = (share: number) => share * wallClockSeconds * 1_000;
  const until = (share: number, nowMs: number) => Math.max(0, at(share) - nowMs);
  const cpu = cpuLimits === undefined ? null : divideCpu(cpuLimits);
  return {
    phaseAt(nowMs) {
      const usedMs = cpu?.usedMs() ?? 0;
      const isPast = (share: number, cpuMs = Infinity) => nowMs >= at(share) || usedMs >= cpuMs;
      if (isPast(OVER_SHARE, cpu?.overMs)) return "over";
      if (isPast(CLOSING_SHARE, cpu?.closingMs)) return "closing";
      return isPast(OPEN_SHARE, cpu?.openMs) ? "draining" : "open";
    },
    openForMs: (nowMs) => until(OPEN_SHARE, nowMs),
    retiredInMs: (nowMs) => until(RETIRED_SHARE, nowMs),
    overInMs: (nowMs) => until(OVER_SHARE, nowMs),
    roomBeside(held) {
      if (cpu === null) return Infinity;
      const leftMs = cpu.closingMs - cpu.usedMs() - reservedMs(held);
      // A caller that watches one task probably watches the next.
      const isWatched = held.streamCount > 0;
      const oneMore = reservedMs({ count: 1, streamCount: isWatched ? 1 : 0 });
      return Math.max(0, Math.floor(leftMs / oneMore));
    },
    isYoung: (nowMs) => nowMs < at(YOUNG_SHARE) && (cpu?.usedMs() ?? 0) < (cpu?.youngMs ?? 1),
    isCpuSpent: () => cpu !== null && cpu.usedMs() >= cpu.openMs,
    cpu: cpu === null ? null : {
      usedMs: cpu.usedMs,
      retire: (held) => retire(cpu, held),
      onPhase: (phase, listener) =>
        cpu.meter.onReach(phase === "over" ? cpu.overMs : cpu.openMs, listener),
    },
  };
}

type DividedCpu = ReturnType<typeof divideCpu>;

function divideCpu({ softMs, hardMs, meter }: CpuLimits) {
  const closingMs = CPU_CLOSING_SHARE * hardMs;
  return {
    meter,
    usedMs: meter.usedMs,
    youngMs: CPU_YOUNG_SHARE * softMs,
    openMs: Math.min(CPU_OPEN_SHARE * softMs, closingMs),
    closingMs,
    overMs: CPU_OVER_SHARE * hardMs,
  };
}

function reservedMs({ count, streamCount }: HeldLoad): number {
  return count * CPU_OF_HELD_MS + streamCount * CPU_OF_STREAM_MS;
}

const BURN_SLICE_MS = 15;
/** A wake-up arrived here although the meter is past the soft limit: use a little more. */
const BURN_AGAIN_MS = 100;

async function retire({ meter, openMs, closingMs }: DividedCpu, held: HeldLoad): Promise<void> {
  const spareMs = closingMs - reservedMs(held);
  const wantedMs = Math.max(openMs, meter.usedMs() + BURN_AGAIN_MS);
  while (meter.usedMs() < Math.min(wantedMs, spareMs)) {
    meter.burn(BURN_SLICE_MS);
    // Streams and heartbeats continue between two slices.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
