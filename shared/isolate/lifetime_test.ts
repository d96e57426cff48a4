import assert from "node:assert/strict";
import { createLifetime } from "./lifetime.ts";
import { pollingPauseMs } from "../work/polling_pace.ts";

Deno.test("a worker claims only in the first part of its isolate's life", () => {
  const lifetime = createLifetime(100);

  assert.deepEqual(
    [0, 44_999, 45_000, 74_999, 75_000, 84_999, 85_000, 200_000].map(lifetime.phaseAt),
    [
      "open",
      "open",
      "draining",
      "draining",
      "closing",
      "closing",
      "over",
      "over",
    ],
  );
});

Deno.test("a wake-up is passed on only after the platform has retired the isolate", () => {
  const lifetime = createLifetime(100);

  assert.ok(lifetime.retiredInMs(45_000) + 45_000 > 50_000);
  assert.equal(lifetime.retiredInMs(60_000), 0);
});

Deno.test("polling stays fast for more than twice the debounce of wake-ups, then slows down", () => {
  assert.ok(pollingPauseMs(300) <= 50);
  assert.ok(pollingPauseMs(1_000) > pollingPauseMs(0));
  assert.equal(pollingPauseMs(3_600_000), 1_000);
});
