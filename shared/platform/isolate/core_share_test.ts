import assert from "node:assert/strict";
import { CoreShare } from "./core_share.ts";

/** A clock whose readings take a microsecond; after each `ownMs` of them, others have the core. */
function contendedClock(ownMs: number, othersMs: number, stepMs = 0.001) {
  let nowMs = 0;
  let sinceMs = 0;
  return () => {
    sinceMs += stepMs;
    if (sinceMs >= ownMs) {
      sinceMs = 0;
      nowMs += othersMs;
    }
    return nowMs += stepMs;
  };
}

Deno.test("a thread alone on its core has all of it", () => {
  const share = new CoreShare(contendedClock(Infinity, 0));

  share.compute(20);

  assert.equal(share.value, 1);
});

Deno.test("a thread that waits seven times as long as it runs has an eighth", () => {
  const share = new CoreShare(contendedClock(1, 7));

  for (let sample = 0; sample < 200; sample++) share.compute(0.2);

  assert.ok(share.value > 0.1 && share.value < 0.15, `${share.value}`);
});

Deno.test("the share follows when the other programs end", () => {
  let clock = contendedClock(1, 7);
  let offsetMs = 0;
  let lastMs = 0;
  const share = new CoreShare(() => lastMs = offsetMs + clock());
  share.compute(10);

  offsetMs = lastMs;
  clock = contendedClock(Infinity, 0);
  share.compute(40);

  assert.ok(share.value > 0.6, `${share.value}`);
});

Deno.test("one sample changes little", () => {
  const share = new CoreShare(contendedClock(0.1, 0.5));

  share.compute(0.1);

  assert.ok(share.value > 0.5, `${share.value}`);
});

/** A clock of whole steps, whose readings take a microsecond; `spentMs` is the true time. */
function coarseClock(stepMs: number) {
  let nowMs = 0;
  return {
    spentMs: () => nowMs,
    nowMs() {
      nowMs += 0.001;
      return Math.floor(nowMs / stepMs) * stepMs;
    },
  };
}

Deno.test("a clock with coarse steps, or none, changes nothing", () => {
  for (const stepMs of [0.1, 1, 10, Infinity]) {
    const clock = coarseClock(stepMs);
    const share = new CoreShare(() => stepMs === Infinity ? 0 : clock.nowMs());

    for (let sample = 0; sample < 3; sample++) share.compute(0.2);

    assert.deepEqual([share.value, share.isMeasurable], [1, false], `${stepMs} ms`);
  }
});

Deno.test("with coarse steps, computing takes as long as it is to take", () => {
  for (const stepMs of [0.1, 1, 5]) {
    const clock = coarseClock(stepMs);

    new CoreShare(clock.nowMs).compute(50);

    assert.ok(clock.spentMs() >= 50 && clock.spentMs() < 60, `${stepMs}: ${clock.spentMs()} ms`);
  }
});
