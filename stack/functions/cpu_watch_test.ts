import assert from "node:assert/strict";
import { CpuWatch } from "./cpu_watch.ts";

const LIMITS = { softMs: 1_000, hardMs: 2_000 };

/** A watch over a thread that uses CPU by hand, with the pauses that the watch asked for. */
function watched(limits = LIMITS) {
  const seen: string[] = [];
  const pauses: number[] = [];
  let look: (() => void) | null = null;
  let cpuMs: number | null = 500;
  const watch = new CpuWatch(limits, {
    readMs: () => cpuMs,
    onSoft: () => seen.push("soft"),
    onWarning: () => seen.push("warning"),
    onHard: () => seen.push("hard"),
    timers: {
      set(work, pauseMs) {
        look = work;
        pauses.push(pauseMs);
      },
      clear: () => look = null,
    },
  });
  return {
    watch,
    seen,
    pauses,
    use(ms: number | null) {
      cpuMs = ms === null ? null : 500 + ms;
      look?.();
    },
  };
}

Deno.test("CpuWatch counts from its start on, so that an import is free", () => {
  const { watch, use, seen } = watched();
  watch.start();

  use(999);

  assert.deepEqual([watch.usedMs, seen], [999, []]);
});

Deno.test("CpuWatch tells soft limit, warning at nine tenths and hard limit once each, in order", () => {
  const { watch, use, seen } = watched();
  watch.start();

  for (const ms of [1_000, 1_500, 1_800, 1_999, 2_000, 2_100]) use(ms);

  assert.deepEqual(seen, ["soft", "warning", "hard"]);
});

Deno.test("CpuWatch that is late tells everything that was passed", () => {
  const { watch, use, seen } = watched();
  watch.start();

  use(5_000);

  assert.deepEqual(seen, ["soft", "warning", "hard"]);
});

Deno.test("CpuWatch looks again when the next limit can be reached at the earliest", () => {
  const { watch, use, pauses } = watched();
  watch.start();

  use(0);
  use(700);
  use(999);

  assert.deepEqual(pauses, [1_000, 1_000, 300, 10]);
});

Deno.test("CpuWatch does nothing where CPU time cannot be read, and nothing after stop()", () => {
  const blind = watched();
  blind.use(null);
  blind.watch.start();
  const stopped = watched();
  stopped.watch.start();
  stopped.watch.stop();

  blind.use(null);
  stopped.use(3_000);

  assert.deepEqual([blind.watch.usedMs, blind.seen, blind.pauses], [null, [], []]);
  assert.deepEqual(stopped.seen, []);
});

Deno.test("CpuWatch keeps the last reading of a thread that is gone", () => {
  const { watch, use } = watched();
  watch.start();
  use(700);

  use(null);

  assert.equal(watch.usedMs, 700);
});
