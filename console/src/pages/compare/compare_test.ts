import { expect, test } from "vitest";
import type { ComparedJob } from "../../queries/compared_job.ts";
import type { TraceStep } from "../job/trace/trace_model.ts";
import { alignRows } from "./align_rows.ts";
import { figuresOf } from "./figures.ts";
import { valueText } from "./value_text.ts";

const AT = "2026-11-23T10:00:00.000Z";

function step(taskId: string, seq: number, parts: Partial<TraceStep>): TraceStep {
  return {
    task_id: taskId,
    seq,
    kind: "model",
    name: null,
    server: null,
    state: "done",
    error_code: null,
    usage: null,
    cost_micro_usd: null,
    interruptions: 0,
    started_at: AT,
    ended_at: AT,
    summary: null,
    ...parts,
  };
}

function job(
  id: string,
  steps: readonly Partial<TraceStep>[],
  parts: { readonly usage?: ComparedJob["usage"]; readonly finishedAt?: string | null } = {},
): ComparedJob {
  const times = { created_at: AT, started_at: AT, finished_at: parts.finishedAt ?? null };
  return {
    isOwn: true,
    task: {
      id,
      agent_slug: "writer",
      agent_revision: 1,
      agent_changes: null,
      master_task_id: id,
      status: "completed",
      error: null,
      input: "Write",
      output: "Done",
      ...times,
    },
    usage: parts.usage ?? null,
    tasks: [{
      id,
      parent_id: null,
      parent_step_seq: null,
      agent_slug: "writer",
      status: "completed",
      ...times,
    }],
    steps: steps.map((one, at) => step(id, at + 1, one)),
  };
}

const call = (name: string, summary: string) => ({ kind: "tool", server: "files", name, summary });

test("alignRows() pairs the same calls around one that only one job made", () => {
  const first = job("a", [{ summary: "I read" }, call("read", "a.md"), { summary: "Done" }]);
  const second = job("b", [
    { summary: "I search", usage: { model: "another" } },
    call("search", "webhooks"),
    call("read", "a.md"),
    { summary: "Done" },
  ]);

  const rows = alignRows(first, second).map(({ first, second, differs }) => [
    first?.key ?? null,
    second?.key ?? null,
    differs,
  ]);

  expect(rows).toEqual([
    ["a", "b", false],
    ["a:1", "b:1", true],
    [null, "b:2", true],
    ["a:2", "b:3", false],
    ["a:3", "b:4", false],
  ]);
});

test("alignRows() keeps every row of traces that have nothing in common", () => {
  const names = Array.from({ length: 300 }, (_, at) => at);
  const first = job("a", names.map((at) => call(`first_${at}`, "")));
  const second = job("b", names.map((at) => call(`second_${at}`, "")));

  const rows = alignRows(first, second);

  expect(rows.filter(({ first }) => first !== null)).toHaveLength(301);
  expect(rows.filter(({ second }) => second !== null)).toHaveLength(301);
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length);
});

test("figuresOf() shows exact amounts, their difference, and a dash for what is unknown", () => {
  const usage = { task_count: 1, output_tokens: 20, cost_micro_usd: 1_234_567 };
  const first = job("a", [{ ended_at: "2026-11-23T10:00:01.234Z" }], {
    usage: { ...usage, input_tokens: 123_456 },
    finishedAt: "2026-11-23T10:00:02.500Z",
  });
  const second = job("b", [], {
    usage: { ...usage, input_tokens: 61_728, cost_micro_usd: null },
    finishedAt: "2026-11-23T10:00:02.501Z",
  });

  const figures = Object.fromEntries(
    figuresOf(first, second).map(({ label, ...texts }) => [label, Object.values(texts)] as const),
  );

  expect(figures["Time"]).toEqual(["2.5 s", "2.501 s", "+0.001 s", "+0%"]);
  expect(figures["Time of model calls"]).toEqual(["1.234 s", "0 s", "−1.234 s", "−100%"]);
  expect(figures["Input tokens"]).toEqual(["123,456", "61,728", "−61,728", "−50%"]);
  expect(figures["Output tokens"]).toEqual(["20", "20", "0", ""]);
  expect(figures["Cost"]).toEqual(["$1.234567", "–", "", ""]);
  expect(figures["Steps"]).toEqual(["1", "0", "−1", "−100%"]);
});

test("valueText() orders the names of JSON, so that only values differ", () => {
  expect(valueText({ b: 1, a: [{ d: 2, c: 3 }] })).toBe(valueText({ a: [{ c: 3, d: 2 }], b: 1 }));
  expect(valueText({ a: 1 })).not.toBe(valueText({ a: "1" }));
  expect(valueText("Plain <b>text</b>")).toBe("Plain <b>text</b>");
});
