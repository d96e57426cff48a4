import type { CpuMeter } from "./cpu_meter.ts";

/**
 * What a worker may still do, by the share of its isolate's life that has passed, in wall clock or in
 * CPU time, whichever is further:
 *
 * - `open`: claim tasks and run them.
 * - `draining`: run what it has. The platform sends a retired isolate no more requests.
 * - `closing`: begin no further step.
 * - `over`: hand back what still runs. The platform warns at nine tenths and kills at the end.
 */
export type LifePhase = "open" | "draining" | "closing" | "over";

const OPEN_SHARE = 0.45;
/** Just after the half at which new requests reach another isolate. */
const RETIRED_SHARE = 0.52;
const CLOSING_SHARE = 0.75;
const OVER_SHARE = 0.85;
/** A call that is made alone gets most of a life. */
const YOUNG_SHARE = 0.25;

/**
 * Of the soft limit. While the platform has not retired the isolate, it sends every wake here, so the
 * worker claims until that is certain, however much its meter exaggerates.
 */
const CPU_OPEN_SHARE = 1.2;
/** Of the hard limit. */
const CPU_CLOSING_SHARE = 0.75;
const CPU_OVER_SHARE = 0.85;
/** Of the soft limit. */
const CPU_YOUNG_SHARE = 0.4;
/** What it takes to end what runs, write it down and hand it back. */
const CPU_OF_HELD_MS = 60;
/** A streamed answer of three thousand pieces, with the messages to whoever watches. */
const CPU_OF_STREAM_MS = 420;

/** What a worker holds. */
export interface HeldLoad {
  readonly count: number;
  /** How many of them are watched, so that their answers stream. */
  readonly streamCount: number;
}

/** The CPU that the platform lets an isolate use, over its whole life. */
export interface CpuLimits {
  /** From here on it gets no new requests. */
  readonly softMs: number;
  /** Here it is killed. */
  readonly hardMs: number;
  readonly meter: CpuMeter;
}

/** The phases of one isolate's life. */
export interface Lifetime {
  phaseAt(nowMs: number): LifePhase;
  /** Milliseconds from `nowMs` until nothing may be claimed any more. */
  openForMs(nowMs: number): number;
  /** Milliseconds from `nowMs` until a wake reaches another isolate than this one. */
  retiredInMs(nowMs: number): number;
  /** Milliseconds from `nowMs` until running tasks have to be handed back. */
  overInMs(nowMs: number): number;
  /** How much more work the rest of the CPU carries. */
  roomBeside(held: HeldLoad): number;
  /** Whether enough of a life is left for a call that another isolate could not finish. */
  isYoung(nowMs: number): boolean;
  /** Whether CPU, not time, is why nothing may be claimed. */
  isCpuSpent(): boolean;
  /** Null where CPU is not limited. */
  readonly cpu: CpuLife | null;
}

/** The part of a life that is counted in CPU. */
export interface CpuLife {
  /** Milliseconds of CPU that the isolate has used, rather too many than too few. */
  usedMs(): number;
  /**
   * Uses up the CPU up to the soft limit, as far as what is held can spare it: the platform
   * starts another isolate only when this one is retired, and CPU alone retires it early.
   */
  retire(held: HeldLoad): Promise<void>;
  /** Calls `listener` when the phase changes. */
  onPhase(phase: "draining" | "over", listener: () => void): void;
}

/**
 * Divides an isolate's life.
 *
 * @param wallClockSeconds Seconds that the platform lets the isolate live, from its start at 0.
 * @param cpuLimits Absent: CPU is not limited.
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
      // Whoever watches one task probably watches the next.
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
/** A wake that comes back although the meter says that the soft limit is past: a little more. */
const BURN_AGAIN_MS = 100;

async function retire({ meter, openMs, closingMs }: DividedCpu, held: HeldLoad): Promise<void> {
  const spareMs = closingMs - reservedMs(held);
  const wantedMs = Math.max(openMs, meter.usedMs() + BURN_AGAIN_MS);
  while (meter.usedMs() < Math.min(wantedMs, spareMs)) {
    meter.burn(BURN_SLICE_MS);
    // Streams and heartbeats go on between two slices.
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
