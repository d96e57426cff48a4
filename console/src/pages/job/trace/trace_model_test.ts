import { describe, expect, test, vi } from "vitest";
import { detailOf, titleOf } from "./row_texts.ts";
import {
  keysAbove,
  modelsOf,
  totalsOf,
  traceRows,
  type TraceStep,
  type TraceTask,
} from "./trace_model.ts";

const START = "2026-11-01T10:00:00.000Z";
const EVERYTHING = { collapsed: new Set<string>(), isFailedOnly: false, search: "" };

function task(id: string, change: Partial<TraceTask> = {}): TraceTask {
  return {
    id,
    parent_id: null,
    parent_step_seq: null,
    agent_slug: "planner",
    status: "completed",
    created_at: START,
    started_at: START,
    finished_at: START,
    ...change,
  };
}

function step(taskId: string, seq: number, change: Partial<TraceStep> = {}): TraceStep {
  return {
    task_id: taskId,
    seq,
    kind: "tool",
    name: `tool_${seq}`,
    server: null,
    state: "done",
    error_code: null,
    usage: null,
    cost_micro_usd: null,
    interruptions: 0,
    started_at: START,
    ended_at: START,
    summary: null,
    ...change,
  };
}

const tasks = [
  task("job"),
  task("child", { parent_id: "job", parent_step_seq: 2, agent_slug: "reader" }),
];
const steps = [
  step("child", 1, { state: "failed", error_code: "TOOL_FAILED" }),
  step("job", 3),
  step("job", 1),
  step("job", 2, { name: "create_subtask" }),
];

describe("traceRows()", () => {
  test("puts a subtask below the step that created it, and sorts steps", () => {
    const keys = traceRows(tasks, steps, EVERYTHING).map(({ key }) => key);
    expect(keys).toEqual(["job", "job:1", "job:2", "child", "child:1", "job:3"]);
  });

  test("hides the rows below a closed row", () => {
    const view = { ...EVERYTHING, collapsed: new Set(["job:2"]) };
    expect(traceRows(tasks, steps, view).map(({ key }) => key))
      .toEqual(["job", "job:1", "job:2", "job:3"]);
  });

  test("shows only failures and the rows above them", () => {
    const view = { ...EVERYTHING, isFailedOnly: true };
    expect(traceRows(tasks, steps, view).map(({ key }) => key))
      .toEqual(["job", "job:2", "child", "child:1"]);
  });

  test("finds a step by its name, even below a closed row", () => {
    const view = { collapsed: new Set(["job"]), isFailedOnly: false, search: "TOOL_3" };
    expect(traceRows(tasks, steps, view).map(({ key }) => key)).toEqual(["job", "job:3"]);
  });

  test("finds a step by its first words", () => {
    const said = step("job", 4, { kind: "model", summary: "The harbor at dawn" });
    const rows = traceRows(tasks, [...steps, said], { ...EVERYTHING, search: "harbor" });
    expect(rows.map(({ key }) => key)).toEqual(["job", "job:4"]);
  });

  test("finds what the database has found inside a step or a task, and nothing else", () => {
    const view = { ...EVERYTHING, search: "O-9001" };
    const keysWith = (found: readonly string[]) =>
      traceRows(tasks, steps, { ...view, found: new Set(found) }).map(({ key }) => key);
    expect(keysWith([])).toEqual([]);
    expect(keysWith(["job:3"])).toEqual(["job", "job:3"]);
    expect(keysWith(["job"])).toEqual(["job"]);
  });

  test("sums up what a closed row hides, subtasks included", () => {
    const usage = { input_tokens: 90, output_tokens: 10 };
    const spending = steps.map((one) => ({ ...one, usage, cost_micro_usd: 5 }));
    const sumsOf = (closed: string) => {
      const view = { ...EVERYTHING, collapsed: new Set([closed]) };
      return traceRows(tasks, spending, view).flatMap((row) =>
        row.hidden === null ? [] : [{ ...totalsOf(row), hidden: detailOf(row) }]
      );
    };

    const totals = { failedCount: 1, tokens: 400, costMicroUsd: 20 };
    expect(sumsOf("job")).toEqual([{ ...totals, stepCount: 4, hidden: "4 steps, 1 failed" }]);
    // The step that created the subtask, and the subtask's only step.
    expect(sumsOf("job:2")).toEqual([
      { failedCount: 1, tokens: 200, costMicroUsd: 10, stepCount: 2, hidden: "1 step, 1 failed" },
    ]);
  });

  test("ends an abandoned step with its task", () => {
    const left = step("job", 1, { state: "started", ended_at: null });
    expect(traceRows([task("job")], [left], EVERYTHING).at(-1)?.endMs).toBe(Date.parse(START));
  });

  test("nests thousands of subtasks without overflowing the stack", () => {
    const deep = Array.from(
      { length: 5_000 },
      (_, index) =>
        task(`t${index}`, index === 0 ? {} : { parent_id: `t${index - 1}`, parent_step_seq: 1 }),
    );
    const own = deep.map(({ id }) => step(id, 1, { name: "create_subtask" }));
    expect(traceRows(deep, own, EVERYTHING)).toHaveLength(10_000);
  });

  test("reads the times of a step once, and again only after a change", () => {
    const job = task("job", { status: "running", finished_at: null });
    const steps = Array.from({ length: 100 }, (_, index) => step("job", index + 1));
    traceRows([job], steps, EVERYTHING);
    const end = "2026-11-01T10:00:09.000Z";
    const changed = steps.with(41, step("job", 42, { ended_at: end }));

    using parse = vi.spyOn(Date, "parse");
    const rows = traceRows([job], changed, EVERYTHING);

    expect(rows[42]?.endMs).toBe(new Date(end).getTime());
    // One read for the job and one for the step that changed.
    expect(parse.mock.calls.length).toBeLessThanOrEqual(4);
  });

  test("takes linear time in the number of steps", () => {
    const many = Array.from({ length: 50_000 }, (_, index) => step("job", index + 1));
    const startedAt = performance.now();
    expect(traceRows([task("job")], many, EVERYTHING)).toHaveLength(50_001);
    // A quadratic algorithm would take minutes.
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

test("titleOf() names the model only where several answered or nothing is said", () => {
  const titles = (change: Partial<TraceStep>, hasOneModel: boolean) => {
    const said = step("job", 1, {
      kind: "model",
      usage: { model: "m-1" },
      summary: "Hi",
      ...change,
    });
    return traceRows([task("job")], [said], EVERYTHING).map((row) => titleOf(row, hasOneModel));
  };
  expect(titles({}, true)).toEqual(["planner", ""]);
  expect(titles({}, false)).toEqual(["planner", "m-1"]);
  expect(titles({ summary: null }, true)).toEqual(["planner", "Model"]);
  expect(titles({ state: "failed", error_code: "X" }, true)).toEqual(["planner", "Model X"]);
  expect(titles({ error_code: "X" }, true)).toEqual(["planner", "Model X"]);
});

test("modelsOf() lists the models, the most used first", () => {
  const models = ["a", "b", "b", undefined];
  const answers = models.map((model, index) =>
    step("job", index + 1, { kind: "model", usage: model === undefined ? null : { model } })
  );
  expect(modelsOf(answers)).toEqual(["b", "a"]);
});

test("keysAbove() returns every row that must be open to show a step", () => {
  const family = new Map([
    task("job"),
    task("child", { parent_id: "job", parent_step_seq: 3 }),
    task("grandchild", { parent_id: "child", parent_step_seq: null }),
  ].map((one) => [one.id, one]));
  expect([...keysAbove("grandchild:2", family)]).toEqual(["grandchild", "child", "job", "job:3"]);
  expect([...keysAbove("job", family)]).toEqual([]);
});
