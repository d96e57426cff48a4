import assert from "node:assert/strict";
import { StopSequence } from "./stop_sequence.ts";

Deno.test("StopSequence stops parts once, in reverse order, and goes on after one that fails", async () => {
  const events: string[] = [];
  const stops = new StopSequence((_level, event) => void events.push(event));
  const part = (name: string) => () => Promise.resolve(void events.push(name));
  stops.add("first", part("first"));
  stops.add("broken", () => Promise.reject(new Error("broken")));
  stops.add("last", part("last"));

  await Promise.all([stops.run(), stops.run()]);

  assert.deepEqual(events, ["last", "stop_failed", "first"]);
});

Deno.test("StopSequence immediately stops a part that is added after it has run", async () => {
  const stops = new StopSequence(() => {});
  await stops.run();
  let isStopped = false;

  stops.add("late", () => Promise.resolve(void (isStopped = true)));

  await stops.run();
  assert.ok(isStopped);
});
