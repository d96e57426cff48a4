import assert from "node:assert/strict";
import { ratioIn, runRounds, spreadIn } from "./rounds.ts";

Deno.test("runRounds() starts each round with a different system", async () => {
  const order: string[] = [];
  const measure = (name: string) => () => {
    order.push(name);
    return Promise.resolve({});
  };

  await runRounds({ a: measure("a"), b: measure("b") }, { bench: "x", count: 2 });

  assert.deepEqual(order, ["a", "b", "b", "a"]);
});

Deno.test("ratioIn() compares within a round, so that a slow round does not change the result", async () => {
  const disturbance = [1, 10, 1];
  const measure = (ms: number) => (round: number) =>
    Promise.resolve({ ms: ms * (disturbance[round] ?? 1) });
  const rounds = await runRounds({ own: measure(3), peer: measure(2) }, { bench: "x", count: 3 });

  assert.deepEqual(ratioIn(rounds, "ms", "own", "peer"), { median: 1.5, low: 1.5, high: 1.5 });
  assert.deepEqual(spreadIn(rounds, "own", "ms"), { median: 3, low: 3, high: 30 });
});
