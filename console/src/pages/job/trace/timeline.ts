import { momentsOf, type TraceStep } from "./trace_model.ts";

/** Times on a scale from 0 to 1, on which long idle times take little space. */
export interface Timeline {
  readonly startMs: number;
  readonly endMs: number;
  /** The position of a moment; outside the scale it is at the nearest end. */
  positionOf(atMs: number): number;
  /** The idle times that were shortened. */
  readonly gaps: readonly { readonly position: number; readonly durationMs: number }[];
}

/** An idle time is shortened if it is at least this long and at least this share of the whole. */
const MIN_GAP_MS = 2_000;
const MIN_GAP_SHARE = 0.08;
/** The length of a shortened idle time, as a share of the busy time. */
const LEFT_SHARE = 0.03;

/**
 * The scale of a job. Time in which no step ran, such as a night until a review was answered,
 * would otherwise hide everything else.
 */
export function buildTimeline(
  steps: readonly TraceStep[],
  { startMs, endMs, collapsesIdle }: {
    readonly startMs: number;
    readonly endMs: number;
    readonly collapsesIdle: boolean;
  },
): Timeline {
  const end = Math.max(endMs, startMs + 1);
  const gaps = collapsesIdle ? idleTimes(steps, startMs, end) : [];
  const idleMs = gaps.reduce((sum, gap) => sum + gap.toMs - gap.fromMs, 0);
  const leftMs = Math.max(1, (end - startMs - idleMs) * LEFT_SHARE);
  const shownMs = end - startMs - idleMs + gaps.length * leftMs;
  // The time removed before the end of each gap, so that bisection can find a moment.
  let removedMs = 0;
  const cuts = gaps.map((gap) => {
    const before = removedMs;
    removedMs += gap.toMs - gap.fromMs - leftMs;
    return { ...gap, removedBeforeMs: before, removedAfterMs: removedMs };
  });

  function positionOf(atMs: number): number {
    const at = Math.min(Math.max(atMs, startMs), end);
    let low = 0;
    let high = cuts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((cuts[middle]?.fromMs ?? Infinity) < at) low = middle + 1;
      else high = middle;
    }
    const cut = cuts[low - 1];
    if (cut === undefined) return (at - startMs) / shownMs;
    if (at >= cut.toMs) return (at - startMs - cut.removedAfterMs) / shownMs;
    const inside = (at - cut.fromMs) / (cut.toMs - cut.fromMs) * leftMs;
    return (cut.fromMs - startMs - cut.removedBeforeMs + inside) / shownMs;
  }

  return {
    startMs,
    endMs: end,
    positionOf,
    gaps: cuts.map(({ fromMs, toMs }) => ({
      position: positionOf((fromMs + toMs) / 2),
      durationMs: toMs - fromMs,
    })),
  };
}

/** Steps that only wait do not count as busy time. */
const IDLE_STEPS = new Set(["request_human_review", "create_subtask"]);

function idleTimes(steps: readonly TraceStep[], startMs: number, endMs: number) {
  const busy = steps
    .filter(({ name }) => !IDLE_STEPS.has(name ?? ""))
    .map(momentsOf)
    .sort((a, b) => a.startMs - b.startMs);
  // A job in which nothing has run yet has no idle time: it has not started.
  if (busy.length === 0) return [];
  const longest = Math.max(MIN_GAP_MS, (endMs - startMs) * MIN_GAP_SHARE);
  const gaps: { fromMs: number; toMs: number }[] = [];
  let reachedMs = startMs;
  for (const { startMs: fromMs, endMs: toMs } of [...busy, { startMs: endMs, endMs }]) {
    if (fromMs - reachedMs >= longest) gaps.push({ fromMs: reachedMs, toMs: fromMs });
    reachedMs = Math.max(reachedMs, toMs ?? endMs);
  }
  return gaps;
}
