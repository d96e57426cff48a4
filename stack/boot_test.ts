import assert from "node:assert/strict";
import { Boot, type BootProgress } from "./boot.ts";

const STEP = "Opening the database";
/** Longer than a test. */
const HOUR_MS = 3_600_000;
const never = () => new Promise<never>(() => {});

function connectionLoss(): Error {
  return Object.assign(new Error("write CONNECTION_CLOSED"), { code: "CONNECTION_CLOSED" });
}

Deno.test("Boot returns what a step returns, and reports what it does", async () => {
  const progress: BootProgress[] = [];
  using boot = new Boot({ limitMs: HOUR_MS, onProgress: (reported) => progress.push(reported) });

  const value = await boot.run(STEP, (report) => {
    report("waiting");
    report("creating", 0.5);
    return Promise.resolve(7);
  });

  assert.equal(value, 7);
  assert.deepEqual(progress, [
    { step: STEP, doing: null, done: null },
    { step: STEP, doing: "waiting", done: null },
    { step: STEP, doing: "creating", done: 0.5 },
  ]);
});

Deno.test("Boot ends a step that makes no progress, and names it and the setting", async () => {
  using boot = new Boot({ limitMs: 1 });

  await assert.rejects(boot.run(STEP, never), {
    code: "DATABASE_UNAVAILABLE",
    message: `Cannot start: "${STEP}" made no progress for 0.001 s`,
    hint: /SUPASWARM_START_LIMIT_SECONDS/,
  });
});

Deno.test("Boot ends a step for the caller's reason, whatever the step says about its end", async () => {
  const reason = new Error("Ctrl-C");
  for (
    const work of [
      never,
      (end: AbortSignal) => new Promise((resolve) => end.addEventListener("abort", resolve)),
      (end: AbortSignal) =>
        new Promise((_, reject) => end.addEventListener("abort", () => reject(connectionLoss()))),
    ]
  ) {
    const stopping = new AbortController();
    using boot = new Boot({ limitMs: HOUR_MS, signal: stopping.signal });
    const step = boot.run(STEP, () => work(boot.signal));

    stopping.abort(reason);

    await assert.rejects(step, reason);
    await assert.rejects(boot.run("Preparing the project", () => Promise.resolve()), reason);
  }
});

Deno.test("Boot ends a step whose database is lost, also when the driver settles no query", async () => {
  let restart = () => {};
  let isFollowed = false;
  const database = {
    onRestart: (handler: () => void) => {
      [restart, isFollowed] = [handler, true];
      return () => isFollowed = false;
    },
  };
  const lost = {
    code: "DATABASE_UNAVAILABLE",
    message: `Cannot start: the database ended or did not answer during "${STEP}"`,
  };
  {
    using boot = new Boot({ limitMs: HOUR_MS });
    boot.follow(database);
    const step = boot.run(STEP, never);
    restart();
    await assert.rejects(step, lost);
  }
  assert.equal(isFollowed, false, "a later restart does not concern the start");
  using boot = new Boot({ limitMs: HOUR_MS });
  await assert.rejects(boot.run(STEP, () => Promise.reject(connectionLoss())), lost);
});

Deno.test("Boot leaves a stack alone that serves", async () => {
  const stopping = new AbortController();
  let signal: AbortSignal;
  {
    using boot = new Boot({ limitMs: HOUR_MS, signal: stopping.signal });
    signal = boot.signal;
    await boot.run(STEP, () => Promise.resolve());
  }

  stopping.abort();

  assert.equal(signal.aborted, false);
});
