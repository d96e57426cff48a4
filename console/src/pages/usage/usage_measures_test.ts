import { expect, test } from "vitest";
import type { UsageDimension, UsageLine } from "../../queries/usage.ts";
import { measuresOf } from "./usage_measures.ts";

const LINE: UsageLine = {
  label: "writer",
  name: "Writer",
  model_call_count: 4,
  input_tokens: 40,
  output_tokens: 4,
  cost_micro_usd: null,
  model_p50_ms: 2_000,
  model_p95_ms: 4_000,
  model_p99_ms: 4_000,
  tool_call_count: 10,
  tool_success_count: 8,
  tool_cancelled_count: 2,
  tool_p50_ms: 5,
  tool_p95_ms: 9,
  tool_p99_ms: 10,
  up_count: 1,
  down_count: 0,
  average_score: 4.5,
  task_count: 5,
  completed_count: 3,
  failed_count: 1,
};

function shown(dimension: UsageDimension, line: UsageLine) {
  return Object.fromEntries(
    measuresOf("own", dimension).map(({ key, of, format }) => [key, format(of(line))]),
  );
}

test("measuresOf() shows cost, tokens, calls, success, percentiles and grades", () => {
  expect(shown("agent", LINE)).toMatchObject({
    cost_micro_usd: "–",
    input_tokens: "40",
    model_calls: "4",
    model_p95_ms: "4.0 s",
    tool_success: "100%",
    tool_p99_ms: "10 ms",
    task_success: "75%",
    up: "1",
    stars: "4.5",
  });
});

test("a measure without attempts has no success rate", () => {
  const idle = { ...LINE, tool_call_count: 2, completed_count: 0, failed_count: 0 };
  expect(shown("agent", idle)).toMatchObject({ tool_success: "–", task_success: "–" });
});

test("models and tools have no task counts", () => {
  expect(measuresOf("own", "tool").map(({ key }) => key)).not.toContain("tasks");
  expect(measuresOf("own", "day").map(({ key }) => key)).toContain("tasks");
});

test("the report of all users shows only what is known by its dimension", () => {
  const keys = (dimension: UsageDimension) => measuresOf("all", dimension).map(({ key }) => key);
  expect(keys("revision")).toEqual([
    "cost_micro_usd",
    "input_tokens",
    "output_tokens",
    "model_calls",
    "unpriced_calls",
    "jobs",
    "job_success",
  ]);
  expect(keys("owner")).toContain("tool_calls");
  expect(keys("owner")).not.toContain("tool_success");
  expect(keys("tool")).toContain("tool_p95_ms");
  expect(keys("day")).not.toContain("tasks");
});
