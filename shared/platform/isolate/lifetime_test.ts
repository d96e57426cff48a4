import assert from "node:assert/strict";
import { pollingPauseMs } from "../../engine/work/polling_pace.ts";
import { createCpuMeter } from "./cpu_meter.ts";
import { createLifetime } from "./lifetime.ts";

/** A lifetime with the hosted CPU limits, whose meter reads what the test sets. */
function limitedLifetime() {
  let measuredMs = 0;
  const meter = createCpuMeter(() => measuredMs);
  const lifetime = createLifetime(100, { softMs: 1_000, hardMs: 2_000, meter });
  return {
    lifetime,
    meter,
    measure(durationMs: number) {
      measuredMs += durationMs;
    },
  };
}

Deno.test("a worker claims until the platform has retired its isolate", () => {
  const lifetime = createLifetime(100);

  assert.deepEqual(
    [0, 50_000, 51_999, 52_000, 74_999, 75_000, 84_999, 85_000, 200_000].map(lifetime.phaseAt),
    [
      "open",
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

Deno.test("a worker claims until its isolate has used the CPU at which the platform retires it", () => {
  const { lifetime, measure } = limitedLifetime();

  const phases = [999, 1, 500, 200].map((durationMs) => {
    measure(durationMs);
    return lifetime.phaseAt(0);
  });

  assert.deepEqual(phases, ["open", "draining", "closing", "over"]);
});

Deno.test("a request reopens an isolate whose meter was too high", () => {
  const { lifetime, measure, meter } = limitedLifetime();
  measure(3_000);

  lifetime.noteRequest(0);

  assert.equal(lifetime.phaseAt(0), "open");
  assert.equal(Math.round(meter.usedMs()), 1_000);
  measure(120);
  assert.equal(lifetime.phaseAt(0), "open", "the meter counts three quarters from now on");
  measure(20);
  assert.equal(lifetime.phaseAt(0), "draining");
});

Deno.test("a request shows that the platform's wall clock is longer than the setting", () => {
  const lifetime = createLifetime(100);

  lifetime.noteRequest(80_000);

  assert.equal(lifetime.phaseAt(80_000), "open");
  assert.equal(lifetime.phaseAt(84_000), "draining");
});

Deno.test("streams that cost little leave room for more of them", () => {
  const { lifetime } = limitedLifetime();
  const held = { count: 10, streamCount: 7 };
  assert.equal(lifetime.mayStream(held), false);

  lifetime.noteStream(100);

  assert.equal(lifetime.mayStream(held), true);
});

Deno.test("the last of the CPU is kept for the answers that stream", () => {
  const { lifetime, measure } = limitedLifetime();
  const held = { count: 8, streamCount: 3 };

  measure(1_000);
  assert.equal(lifetime.isNeededByStreams(held), false);
  measure(200);

  assert.equal(lifetime.isNeededByStreams(held), true);
  assert.equal(lifetime.roomBeside(held), 0, "what is not begun is not claimed either");
  assert.equal(lifetime.isNeededByStreams({ count: 8, streamCount: 0 }), false);
  lifetime.noteStream(100);
  assert.equal(lifetime.isNeededByStreams(held), false, "its streams cost less");
});

Deno.test("a worker has room for what it can end after its isolate is retired", () => {
  const { lifetime, measure } = limitedLifetime();
  const room = lifetime.roomBeside({ count: 0, streamCount: 0 });

  assert.ok(room >= 50, `${room} pieces`);
  assert.equal(lifetime.roomBeside({ count: room, streamCount: 0 }), 0);
  measure(900);
  assert.equal(lifetime.roomBeside({ count: 0, streamCount: 0 }), room);
  measure(350);
  assert.equal(lifetime.roomBeside({ count: 0, streamCount: 0 }), room / 2);
});

Deno.test("an isolate is short of CPU from its soft limit on, also after a request", () => {
  const { lifetime, measure } = limitedLifetime();
  const held = { count: 1, streamCount: 1 };

  measure(999);
  assert.equal(lifetime.isShortOfCpu(held), false);
  measure(1);
  lifetime.noteRequest(0);

  assert.equal(lifetime.isShortOfCpu(held), true);
  assert.equal(createLifetime(100).isShortOfCpu(held), false);
});

Deno.test("an isolate is short of CPU earlier the more answers stream", () => {
  const { lifetime, measure } = limitedLifetime();

  measure(300);
  assert.equal(lifetime.isShortOfCpu({ count: 3, streamCount: 3 }), false);
  assert.equal(lifetime.isShortOfCpu({ count: 4, streamCount: 4 }), true);
});

Deno.test("whole answers are awaited beyond the end of other work, until the platform's warning", () => {
  const { lifetime, measure } = limitedLifetime();
  const held = { count: 3, streamCount: 0 };

  measure(1_740);
  assert.equal(lifetime.phaseAt(0), "over");
  assert.equal(lifetime.mayWait(0, held), true);
  assert.equal(lifetime.mayWait(50_000_000, held), false, "the wall clock ends them");
  measure(20);

  assert.equal(lifetime.mayWait(0, held), false);
  assert.equal(createLifetime(100).mayWait(0, held), false);
});

Deno.test("polling stays fast for more than twice the debounce of wake-ups, then slows down", () => {
  assert.ok(pollingPauseMs(300) <= 50);
  assert.ok(pollingPauseMs(1_000) > pollingPauseMs(0));
  assert.equal(pollingPauseMs(3_600_000), 1_000);
});

Deno.test("a worker returns its tasks before the hard limit, although other programs that slowed it down have ended", () => {
  let usedMs = 0;
  let measuredMs = 0;
  const meter = createCpuMeter(() => measuredMs);
  const lifetime = createLifetime(400, { softMs: 1_000, hardMs: 2_000, meter });
  while (usedMs < 1_000) {
    usedMs += 25;
    measuredMs += 100;
    lifetime.noteRequest(0);
  }

  while (lifetime.phaseAt(0) !== "over") {
    usedMs += 25;
    measuredMs += 25;
  }

  assert.ok(usedMs < 2_000, `${usedMs} ms`);
});

Deno.test("a process is open for ever, until its end is set", () => {
  const lifetime = createLifetime(Infinity);
  const day = 86_400_000;

  assert.equal(lifetime.isLimited, false);
  assert.equal(lifetime.phaseAt(1_000 * day), "open");
  assert.equal(lifetime.openForMs(day), Infinity);
  assert.equal(lifetime.overInMs(day), Infinity);

  lifetime.endAt(day + 5_000);

  assert.equal(lifetime.phaseAt(day), "closing");
  assert.equal(lifetime.openForMs(day), 0);
  assert.equal(lifetime.overInMs(day), 5_000);
  assert.equal(lifetime.phaseAt(day + 5_000), "over");
});
