import { expect, test } from "vitest";
import { budgetUses } from "./budget_use.ts";

const spending = {
  costMicroUsd: 250_000,
  inputTokens: 900,
  outputTokens: 10,
  taskCount: 2,
  wallMs: 30_000,
};

test("budgetUses() compares a job's spending with each cap", () => {
  const uses = budgetUses(
    { max_cost_micro_usd: 1_000_000, max_input_tokens: 1_000, max_steps: 50, max_depth: null },
    spending,
  );
  expect(uses.map(({ label, text, share }) => ({ label, text, share }))).toEqual([
    { label: "Cost", text: "$0.25 of $1.00", share: 0.25 },
    { label: "Tokens in", text: "900 of 1,000", share: 0.9 },
    { label: "Steps per task", text: "at most 50", share: 0 },
  ]);
});

test("budgetUses() returns nothing for a job without a budget, and treats a cap of 0 as used up", () => {
  expect(budgetUses(null, spending)).toEqual([]);
  expect(budgetUses({ max_tasks: 0 }, spending)[0]?.share).toBe(1);
});
