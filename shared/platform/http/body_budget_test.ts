import assert from "node:assert/strict";
import { BodyBudget } from "./body_budget.ts";

const MIB = 1_048_576;

Deno.test("BodyBudget refuses bodies that together exceed the budget", () => {
  const budget = new BodyBudget(3 * MIB);
  using first = budget.open();
  first.add(2 * MIB);
  const second = budget.open();
  second.add(MIB);

  assert.throws(() => second.add(MIB), { code: "ENDPOINT_BUSY", retryAfterSeconds: 10 });

  second[Symbol.dispose]();
  second[Symbol.dispose]();
  using third = budget.open();
  third.add(MIB);
  assert.throws(() => third.add(MIB), { code: "ENDPOINT_BUSY" });
});

Deno.test("BodyBudget always admits small bodies", () => {
  const budget = new BodyBudget(MIB);
  using large = budget.open();
  large.add(MIB);

  for (let count = 0; count < 100; count++) budget.open().add(200_000);
});
