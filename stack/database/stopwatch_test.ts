import assert from "node:assert/strict";
import { Stopwatch } from "./stopwatch.ts";

Deno.test("Stopwatch calls onLimit once when nothing resets it", async () => {
  let callCount = 0;
  const called = Promise.withResolvers<void>();
  const stopwatch = new Stopwatch(1, 3, () => {
    callCount++;
    called.resolve();
  });

  stopwatch.start();
  await called.promise;

  assert.equal(callCount, 1);
  stopwatch.stop();
});

Deno.test("Stopwatch does not count the part of a tick that is excused", async () => {
  const ticks = Promise.withResolvers<void>();
  let tickCount = 0;
  const stopwatch = new Stopwatch(1, 5, () => assert.fail("called"), () => {
    if (++tickCount === 20) ticks.resolve();
    return 1;
  });

  stopwatch.start();
  await ticks.promise;

  stopwatch.stop();
});

Deno.test("Stopwatch counts from its last reset and does not count after stop()", async () => {
  const stopwatch = new Stopwatch(1, 5, () => assert.fail("called"));
  const ticks = Promise.withResolvers<void>();
  let tickCount = 0;

  stopwatch.start();
  const timer = setInterval(() => {
    stopwatch.reset();
    if (++tickCount === 20) ticks.resolve();
  }, 1);
  await ticks.promise;
  stopwatch.stop();

  clearInterval(timer);
});
