import { expect, test } from "vitest";
import type { EvalResult } from "../../queries/evals.ts";
import { evalRows, rateText, reasonOf } from "./eval_grid.ts";

function results(name: string, passed: number, failed: number): EvalResult[] {
  return Array.from({ length: passed + failed }, (_, index) => ({
    test: name,
    repeat: index + 1,
    task_id: `${name}-${index}`,
    passed: index < passed,
    assertions: [],
    error: null,
    cost_micro_usd: 0,
    latency_ms: 10,
  }));
}

test("a grid has a row for each test with its jobs", () => {
  const rows = evalRows([...results("a", 2, 0), ...results("b", 1, 1)], null);

  expect(rows.map(({ test, jobs, rate, difference }) => [test, jobs.length, rate, difference]))
    .toEqual([["a", 2, "2 of 2, 34% to 100%", ""], ["b", 2, "1 of 2, 9% to 91%", ""]]);
});

test("two runs are side by side, with the evidence for a difference", () => {
  const rows = evalRows(
    [
      ...results("worse", 0, 9),
      ...results("noise", 1, 1),
      ...results("same", 2, 0),
      ...results("new", 1, 0),
    ],
    [
      ...results("worse", 9, 0),
      ...results("noise", 2, 0),
      ...results("same", 2, 0),
      ...results("old", 1, 0),
    ],
  );

  expect(rows.map(({ test, tone }) => [test, tone])).toEqual([
    ["worse", "bad"],
    ["noise", "warn"],
    ["same", ""],
    ["new", ""],
    ["old", ""],
  ]);
  expect(rows[0]?.difference).toMatch(/^regression, p = 0\.000/);
  expect(rows[1]?.difference).toMatch(/^undecided: needs \d+ jobs a run$/);
  expect(rows.slice(2).map(({ difference }) => difference)).toEqual([
    "equal",
    "only in one run",
    "only in one run",
  ]);
  expect(rows[4]).toMatchObject({ rate: "–", jobs: [], earlierJobs: [{ task_id: "old-0" }] });
});

test("a failed job says why", () => {
  const [job] = results("a", 0, 1);
  if (job === undefined) throw new Error("no job");
  const assertions = [{ type: "cost", reason: null }, { type: "equals", reason: "it differs" }];

  expect(reasonOf({ ...job, assertions })).toBe("equals: it differs");
  expect(reasonOf({ ...job, error: "Out of turns" })).toBe("Out of turns");
  expect(rateText({ passed: 0, total: 0 })).toBe("0 of 0, 0% to 100%");
});
