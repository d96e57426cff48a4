import assert from "node:assert/strict";
import { isolateClock } from "./clock.ts";

Deno.test("a sleep without an end does not end at once, and ends with its signal", async () => {
  const stop = new AbortController();
  let isOver = false;
  const sleeping = isolateClock.sleep(Infinity, stop.signal).then(() => isOver = true);

  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(isOver, false);
  stop.abort();

  await sleeping;
});
