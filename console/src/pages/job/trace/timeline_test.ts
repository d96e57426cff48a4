import { expect, test } from "vitest";
import { buildTimeline } from "./timeline.ts";
import type { TraceStep } from "./trace_model.ts";

const AT_MS = Date.parse("2026-11-01T10:00:00Z");

function step(fromMs: number, toMs: number, name = "read"): TraceStep {
  return {
    task_id: "job",
    seq: fromMs,
    kind: "tool",
    name,
    server: null,
    state: "done",
    error_code: null,
    usage: null,
    cost_micro_usd: null,
    interruptions: 0,
    started_at: new Date(AT_MS + fromMs).toISOString(),
    ended_at: new Date(AT_MS + toMs).toISOString(),
    summary: null,
  };
}

const NIGHT_MS = 8 * 3_600_000;

test("a night of waiting leaves most of the scale to the busy time", () => {
  const steps = [
    step(0, 1_000),
    step(1_000, NIGHT_MS, "request_human_review"),
    step(NIGHT_MS, NIGHT_MS + 1_000),
  ];
  const timeline = buildTimeline(steps, {
    startMs: AT_MS,
    endMs: AT_MS + NIGHT_MS + 1_000,
    collapsesIdle: true,
  });

  expect(timeline.gaps).toHaveLength(1);
  expect(timeline.positionOf(AT_MS + 1_000)).toBeGreaterThan(0.4);
  expect(timeline.positionOf(AT_MS)).toBe(0);
  expect(timeline.positionOf(AT_MS + NIGHT_MS + 1_000)).toBeCloseTo(1);
});

test("positions never decrease", () => {
  const steps = [step(0, 10), step(9_000, 9_010), step(20_000, 20_010)];
  const timeline = buildTimeline(steps, {
    startMs: AT_MS,
    endMs: AT_MS + 20_010,
    collapsesIdle: true,
  });
  let last = -1;
  for (let ms = 0; ms <= 20_010; ms += 30) {
    const position = timeline.positionOf(AT_MS + ms);
    expect(position).toBeGreaterThanOrEqual(last);
    last = position;
  }
});

test("the scale is linear when idle time is not shortened", () => {
  const timeline = buildTimeline([step(0, 10)], {
    startMs: AT_MS,
    endMs: AT_MS + 10_000,
    collapsesIdle: false,
  });
  expect(timeline.gaps).toEqual([]);
  expect(timeline.positionOf(AT_MS + 2_500)).toBeCloseTo(0.25);
});
