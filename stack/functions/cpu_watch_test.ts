import assert from "node:assert/strict";
import { CpuWatch } from "./cpu_watch.ts";

const LIMITS = { softMs: 1_000, hardMs: 2_000 };

/** Creates a watch on a thread whose CPU time the test sets, and records its pauses. */
function watched(limits = LIMITS) {
  const events: string[] = [];
  const pauses: number[] = [];
  let check: (() => void) | null = null;
  let cpuMs: number | null = 500;
  const watch = new CpuWatch(limits, {
    readMs: () => cpuMs,
    onSoft: () => events.push("soft"),
    onWarning: () => events.push("warning"),
    onHard: () => events.push("hard"),
    timers: {
      set(work, pauseMs) {
        check = work;
        pauses.push(pauseMs);
      },
      clear: () => check = null,
    },
  });
  return {
    watch,
    events,
    pauses,
    use(ms: number | null) {
      cpuMs = ms === null ? null : 500 + ms;
      check?.();
    },
  };
}

Deno.test("CpuWatch counts from its start, so that an import is free", () => {
  const { watch, use, events } = watched();
  watch.start();

  use(999);

  assert.deepEqual([watch.usedMs, events], [999, []]);
});

Deno.test("CpuWatch reports the soft limit, the warning at 90 % and the hard limit once, in order", () => {
  const { watch, use, events } = watched();
  watch.start();

  for (const ms of [1_000, 1_500, 1_800, 1_999, 2_000, 2_100]) use(ms);

  assert.deepEqual(events, ["soft", "warning", "hard"]);
});

Deno.test("CpuWatch that checks late reports every limit that was passed", () => {
  const { watch, use, events } = watched();
  watch.start();

  use(5_000);

  assert.deepEqual(events, ["soft", "warning", "hard"]);
});

Deno.test("CpuWatch checks again at the earliest time the next limit can be reached", () => {
  const { watch, use, pauses } = watched();
  watch.start();

  use(0);
  use(700);
  use(999);

  assert.deepEqual(pauses, [1_000, 1_000, 300, 10]);
});

Deno.test("CpuWatch does nothing if CPU time cannot be read, and nothing after stop()", () => {
  const unreadable = watched();
  unreadable.use(null);
  unreadable.watch.start();
  const stopped = watched();
  stopped.watch.start();
  stopped.watch.stop();

  unreadable.use(null);
  stopped.use(3_000);

  assert.deepEqual([unreadable.watch.usedMs, unreadable.events, unreadable.pauses], [null, [], []]);
  assert.deepEqual(stopped.events, []);
});

Deno.test("CpuWatch keeps the last value of a thread that has ended", () => {
  const { watch, use } = watched();
  watch.start();
  use(700);

  use(null);

  assert.equal(watch.usedMs, 700);
});
