import assert from "node:assert/strict";
import { Dice } from "../simulation/dice.ts";
import { QueueModel } from "./queue_model.ts";
import { applyAlone, RandomCalls } from "./random_calls.ts";

Deno.test("the model of the queue keeps its own promises in random programs", () => {
  const seen = new Set<string | null>();
  const events = new Set<string>();
  for (let seed = 1; seed <= 20; seed++) {
    const model = new QueueModel();
    const calls = new RandomCalls(model, new Dice(seed, "calls"));
    for (let step = 0; step < 150; step++) {
      seen.add(applyAlone(calls.next()));
      model.assertConsistent();
    }
    for (const task of model.tasks.values()) for (const event of task.events) events.add(event);
  }
  assert.ok(events.size >= 14, `events: ${[...events].join(", ")}`);
  for (const code of [null, "LEASE_LOST", "TASK_CANCELLED", "TASK_NOT_RETRYABLE"]) {
    assert.ok(seen.has(code), `no call ends with ${code}`);
  }
});
