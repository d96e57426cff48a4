import { expect, test } from "vitest";
import { budgetUses } from "./budget_use.ts";

const spending = {
  costMicroUsd: 250_000,
  inputTokens: 900,
  outputTokens: 10,
  taskCount: 2,
  wallMs: 30_000,
};

test("budgetUses() compares what a job has spent with each cap that is set", () => {
  const uses = budgetUses(
    { max_cost_micro_usd: 1_000_000, max_input_tokens: 1_000, max_steps: 50, max_depth: null },
    spending,
  );
  expect(uses.map(({ label, text, share }) => ({ label, text, share }))).toEqual([
    { label: "Cost", text: "$0.25 of $1.00", share: 0.25 },
    { label: "Tokens in", text: "900 of 1,000", share: 0.9 },
    { label: "Steps of each task", text: "at most 50", share: 0 },
  ]);
});

test("budgetUses() says nothing of a job without a budget, and counts a cap of 0 as used up", () => {
  expect(budgetUses(null, spending)).toEqual([]);
  expect(budgetUses({ max_tasks: 0 }, spending)[0]?.share).toBe(1);
});
