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

Deno.test("StopSequence stops all others at once after a part that hangs", async () => {
  const events: string[] = [];
  const stops = new StopSequence((_level, event) => void events.push(event), 10);
  const others = ["first", "second"].map((name) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    return { name, promise, resolve };
  });
  for (const { name, promise } of others) {
    stops.add(name, () => {
      events.push(name);
      // It ends only when the other one is being stopped too.
      if (events.includes("first") && events.includes("second")) {
        for (const { resolve } of others) resolve();
      }
      return promise;
    });
  }
  stops.add("hung", () => new Promise(() => {}));

  await stops.run();

  assert.deepEqual(events, ["stop_too_slow", "first", "second"]);
});

Deno.test("StopSequence immediately stops a part that is added after it has run", async () => {
  const stops = new StopSequence(() => {});
  await stops.run();
  let isStopped = false;

  stops.add("late", () => Promise.resolve(void (isStopped = true)));

  await stops.run();
  assert.ok(isStopped);
});
