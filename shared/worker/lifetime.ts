/**
 * What a worker may still do, by the share of its isolate's wall clock that has passed:
 *
 * - `open`: claim tasks and run them.
 * - `draining`: run what it has. The platform sends a retired isolate (at a half) no more requests.
 * - `closing`: begin no further step.
 * - `over`: hand back what still runs. The platform warns at nine tenths and kills at the end.
 */
export type LifePhase = "open" | "draining" | "closing" | "over";

const OPEN_SHARE = 0.45;
/** Just after the half at which new requests reach another isolate. */
const RETIRED_SHARE = 0.52;
const CLOSING_SHARE = 0.75;
const OVER_SHARE = 0.85;

/** The phases of one isolate's life. */
export interface Lifetime {
  phaseAt(nowMs: number): LifePhase;
  /** Milliseconds from `nowMs` until nothing may be claimed any more. */
  openForMs(nowMs: number): number;
  /** Milliseconds from `nowMs` until a wake reaches another isolate than this one. */
  retiredInMs(nowMs: number): number;
  /** Milliseconds from `nowMs` until running tasks have to be handed back. */
  overInMs(nowMs: number): number;
}

/**
 * Divides an isolate's life.
 *
 * @param wallClockSeconds Seconds that the platform lets the isolate live, from its start at 0.
 */
export function createLifetime(wallClockSeconds: number): Lifetime {
  const at = (share: number) => share * wallClockSeconds * 1_000;
  const until = (share: number, nowMs: number) => Math.max(0, at(share) - nowMs);
  return {
    phaseAt(nowMs) {
      if (nowMs < at(OPEN_SHARE)) return "open";
      if (nowMs < at(CLOSING_SHARE)) return "draining";
      return nowMs < at(OVER_SHARE) ? "closing" : "over";
    },
    openForMs: (nowMs) => until(OPEN_SHARE, nowMs),
    retiredInMs: (nowMs) => until(RETIRED_SHARE, nowMs),
    overInMs: (nowMs) => until(OVER_SHARE, nowMs),
  };
}
