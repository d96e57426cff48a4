import assert from "node:assert/strict";
import { unloggedEvents } from "./unlogged_events.ts";

const SOURCES = ['log("info", "a.begun");', 'noun: "task",', "log(`${kind.noun}.run_ended`);"];

Deno.test("unloggedEvents() finds an event that no source names", () => {
  assert.equal(unloggedEvents(["a.begun", "a.ended"], SOURCES).length, 1);
});

Deno.test("unloggedEvents() knows the events that are built from a kind of work", () => {
  assert.deepEqual(unloggedEvents(["task.run_ended"], SOURCES), []);
  assert.equal(unloggedEvents(["sync.run_ended"], SOURCES).length, 1);
});
