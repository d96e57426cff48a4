import assert from "node:assert/strict";
import type { Clock } from "../../platform/isolate/clock.ts";
import { createCpuMeter } from "../../platform/isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../../platform/isolate/lifetime.ts";
import type { Logger, OpenLogger } from "../../platform/log/logger.ts";
import { StopReason } from "./stop_reason.ts";
import type { ClaimedWork, ClaimRequest, WorkKind } from "./work_kind.ts";
import { WorkRunner } from "./work_runner.ts";

/** A clock that stands still until the test moves it. */
class ManualClock implements Clock {
  #nowMs = 0;
  #sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = { untilMs: this.#nowMs + durationMs, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        resolve();
      }, { once: true });
    });
  }

  async pass(durationMs: number): Promise<void> {
    this.#nowMs += durationMs;
    const due = this.#sleepers.filter(({ untilMs }) => untilMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter((sleeper) => !due.includes(sleeper));
    for (const { wake } of due) wake();
    await settle();
  }
}

/** Runs everything that does not wait for a clock. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

/** The lifetime of a hosted isolate with the default limits, whose CPU is what the test says. */
function limitedLifetime(readMs: () => number = () => 0): Lifetime {
  return createLifetime(36_000, {
    softMs: 1_000,
    hardMs: 2_000,
    meter: createCpuMeter(readMs),
  });
}

/** A runner of work that takes no time, except pieces named "slow…", which end with `slow`. */
function testRunner(
  slots: number,
  parts: Partial<WorkKind> = {},
  lifetime: Lifetime = limitedLifetime(),
  log: Logger = () => {},
  idleSeconds = 3_600,
) {
  const clock = new ManualClock();
  const waiting: string[] = [];
  const requests: ClaimRequest[] = [];
  const ended: string[] = [];
  const slow = Promise.withResolvers<void>();
  const kind: WorkKind = {
    noun: "task",
    claim: (_workerId, request) => {
      requests.push(request);
      const claimed = waiting.splice(0, request.limit);
      return Promise.resolve(claimed.map((id): ClaimedWork => ({ id, epoch: "1" })));
    },
    renew: () => Promise.resolve([]),
    run: async ({ id }, { signal }) => {
      if (id.startsWith("slow")) {
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => resolve());
        await Promise.race([slow.promise, promise]);
      }
      ended.push(`${id} done`);
      return "done";
    },
    wakeSuccessor: () => Promise.resolve(),
    ...parts,
  };
  const runner = new WorkRunner({
    id: "runner",
    kind,
    settings: { slots, leaseSeconds: 30, heartbeatSeconds: 10, idleSeconds },
    lifetime,
    clock,
    log,
  });
  const running = runner.run();
  return {
    clock,
    requests,
    ended,
    slow,
    running,
    wake: () => runner.wake(),
    async add(...ids: readonly string[]) {
      waiting.push(...ids);
      runner.wake();
      await settle();
    },
    async stop() {
      await runner.unload();
      await running;
    },
  };
}

Deno.test("a slot is free again as soon as only the end of its work is to be written", async () => {
  const { add, ended, slow, stop } = testRunner(1, {
    run: async ({ id }, { settle }) => {
      settle();
      if (id === "slow") await slow.promise;
      ended.push(id);
      return "done";
    },
  });
  await settle();

  await add("slow", "next");

  assert.deepEqual(ended, ["next"]);
  slow.resolve();
  await stop();
});

Deno.test("a claim that began before work ended does not make a worker idle", async () => {
  const claims = [
    Promise.resolve([{ id: "slow", epoch: "1" }]),
    Promise.withResolvers<ClaimedWork[]>(),
    Promise.resolve([{ id: "queued by slow", epoch: "1" }]),
  ] as const;
  let count = 0;
  const { clock, ended, slow, running } = testRunner(
    2,
    {
      claim: () => {
        const claim = claims[count++];
        return claim === undefined
          ? Promise.resolve([])
          : "promise" in claim
          ? claim.promise
          : claim;
      },
    },
    limitedLifetime(),
    () => {},
    0,
  );
  await clock.pass(1);

  await clock.pass(100);
  slow.resolve();
  await settle();
  await clock.pass(1);
  claims[1].resolve([]);
  for (let look = 0; look < 10; look++) await clock.pass(100);

  assert.deepEqual(ended, ["slow done", "queued by slow done"]);
  await running;
});

Deno.test("work that is claimed while the worker unloads is returned", async () => {
  const claim = Promise.withResolvers<ClaimedWork[]>();
  const reasons: unknown[] = [];
  const { stop } = testRunner(1, {
    claim: () => claim.promise,
    run: (_work, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          reasons.push(signal.reason);
          resolve("yielded");
        });
      }),
  });
  await settle();

  const stopped = stop();
  await settle();
  claim.resolve([{ id: "a", epoch: "1" }]);
  await stopped;

  const [reason] = reasons;
  assert.ok(reason instanceof StopReason);
  assert.equal(reason.kind, "yield");
});

Deno.test("work that runs when the worker unloads is returned", async () => {
  const { add, ended, stop } = testRunner(1);
  await settle();
  await add("slow");

  await stop();

  assert.deepEqual(ended, ["slow done"]);
});

Deno.test("a worker claims as much as its CPU can end, however many slots it has", async () => {
  const { add, requests, slow, stop } = limitedRunner(1_000);
  await settle();
  await add(...Array.from({ length: 30 }, (_, index) => `slow ${index}`));
  await add();

  assert.equal(requests[0]?.limit, 50);
  assert.equal(requests.at(-1)?.limit, 20);
  slow.resolve();
  await stop();
});

Deno.test("only a young worker that holds nothing is given work that must run alone", async () => {
  const { add, measure, requests, slow, stop } = limitedRunner();
  await settle();
  assert.equal(requests.at(-1)?.isIdle, true);

  await add("slow");
  await add();
  assert.equal(requests.at(-1)?.isIdle, false, "it runs something");
  slow.resolve();
  await settle();

  await measure(500);
  await add();
  assert.equal(requests.at(-1)?.isIdle, false, "it has used much of its CPU");
  await stop();
});

Deno.test("a worker that runs work alone claims nothing beside it and wakes a successor", async () => {
  let measuredMs = 0;
  let lookMs = 0;
  let wakeCount = 0;
  const claims: number[] = [];
  const { add, clock, slow, stop } = testRunner(
    8,
    {
      claim: (_workerId, { limit }) => {
        claims.push(limit);
        lookMs = 100;
        const isFirst = claims.length === 1;
        return Promise.resolve(isFirst ? [{ id: "slow", epoch: "1", runsExclusively: true }] : []);
      },
      wakeSuccessor: () => {
        wakeCount++;
        return Promise.resolve();
      },
    },
    // Each look costs something, so that using up CPU ends soon.
    limitedLifetime(() => measuredMs += lookMs),
  );
  await settle();

  await add("other");
  assert.equal(wakeCount, 0, "a step may end within the first second");
  while (wakeCount === 0) await clock.pass(100);
  await clock.pass(1_000);

  assert.equal(claims.length, 1);
  slow.resolve();
  await stop();
});

Deno.test("work that had to run alone runs beside other work after a step of it has ended", async () => {
  const claims: number[] = [];
  let progress = () => {};
  const { clock, slow, stop } = testRunner(
    8,
    {
      claim: (_workerId, { limit }) => {
        claims.push(limit);
        const isFirst = claims.length === 1;
        return Promise.resolve(isFirst ? [{ id: "slow", epoch: "1", runsExclusively: true }] : []);
      },
      run: async (_work, control) => {
        progress = control.progress;
        await slow.promise;
        return "completed";
      },
    },
    limitedLifetime(() => 0),
  );
  await settle();
  await clock.pass(500);
  assert.deepEqual(claims, [8]);

  progress();
  await settle();

  assert.deepEqual(claims, [8, 7]);
  slow.resolve();
  await stop();
});

Deno.test("a worker without a CPU limit runs other work beside work that must run alone", async () => {
  const claims: number[] = [];
  const { slow, stop } = testRunner(
    8,
    {
      claim: (_workerId, { limit }) => {
        claims.push(limit);
        const isFirst = claims.length === 1;
        return Promise.resolve(isFirst ? [{ id: "slow", epoch: "1", runsExclusively: true }] : []);
      },
    },
    createLifetime(36_000),
  );

  await settle();

  assert.deepEqual(claims, [8, 7]);
  slow.resolve();
  await stop();
});

Deno.test("answers stream while the rest of the CPU allows it, and the others arrive whole", async () => {
  const streams: boolean[] = [];
  const releases: (() => void)[] = [];
  const { add, slow, stop } = testRunner(20, {
    run: async (_work, { reserveStream }) => {
      const release = reserveStream();
      streams.push(release !== null);
      if (release !== null) releases.push(release);
      await slow.promise;
      return "done";
    },
  });
  await settle();

  await add(...Array.from({ length: 9 }, (_, index) => `${index}`));
  assert.deepEqual(streams, [true, true, true, true, true, true, true, false, false]);

  // The stream has cost nothing, so from now on none is reserved for another.
  for (const release of releases) release();
  await add("10", "11");
  assert.deepEqual(streams.slice(9), [true, true]);
  slow.resolve();
  await stop();
});

Deno.test("waits of work end when the rest of the CPU is needed, and later work waits again", async () => {
  let measuredMs = 0;
  const closings: AbortSignal[] = [];
  const { add, clock, slow, stop } = testRunner(20, {
    run: async (_work, { closing, isClosing, reserveStream }) => {
      closings.push(closing);
      assert.equal(isClosing(), false);
      const release = closings.length === 1 ? reserveStream() : null;
      await slow.promise;
      release?.();
      return "done";
    },
  }, limitedLifetime(() => measuredMs));
  await settle();
  await add("streams", "waits");
  measuredMs = 1_499;
  await clock.pass(1_000);
  assert.deepEqual(closings.map(({ aborted }) => aborted), [false, false]);

  measuredMs = 1_501;
  await clock.pass(1_000);
  assert.deepEqual(closings.map(({ aborted }) => aborted), [true, true]);
  assert.ok(closings[0]?.reason instanceof StopReason);

  // A request proves that no more than the soft limit is used.
  await add("later");
  assert.deepEqual(closings.map(({ aborted }) => aborted), [true, true, false]);
  slow.resolve();
  await stop();
});

Deno.test("a worker whose CPU is short returns what computes, and awaits whole answers until the end", async () => {
  let measuredMs = 0;
  const stopped: string[] = [];
  const { add, clock, slow, running } = testRunner(20, {
    run: ({ id }, { awaitWhole, signal }) => {
      const arrive = id === "computes" ? () => {} : awaitWhole();
      signal.addEventListener("abort", () => stopped.push(id));
      const aborted = new Promise<void>((resolve) =>
        signal.addEventListener("abort", () => resolve())
      );
      const arrived = id === "arrives" ? slow.promise : new Promise<void>(() => {});
      return Promise.race([arrived, aborted]).then(arrive).then(() => "done");
    },
  }, limitedLifetime(() => measuredMs));
  await settle();
  await add("computes", "arrives", "never arrives");

  measuredMs = 1_710;
  for (let look = 0; look < 3; look++) await clock.pass(1_000);
  assert.deepEqual(stopped, ["computes"]);
  slow.resolve();
  await settle();
  measuredMs = 1_790;
  for (let look = 0; look < 3; look++) await clock.pass(1_000);

  assert.deepEqual(stopped, ["computes", "never arrives"]);
  await running;
});

/** A worker under the hosted CPU limits that counts how often it wakes its successor. */
function limitedRunner(slots = 4) {
  let measuredMs = 0;
  let wakeCount = 0;
  const lifetime = limitedLifetime(() => measuredMs);
  const runner = testRunner(slots, {
    wakeSuccessor: () => {
      wakeCount++;
      return Promise.resolve();
    },
  }, lifetime);
  return {
    ...runner,
    wakeCount: () => wakeCount,
    async measure(durationMs: number) {
      measuredMs += durationMs;
      await runner.clock.pass(1_000);
    },
  };
}

Deno.test("a worker whose CPU is used up wakes its successor once and claims no more", async () => {
  const { add, ended, measure, running, slow, wakeCount, requests } = limitedRunner();
  await settle();
  await add("slow");

  await measure(1_100);
  const claimCount = requests.length;
  await measure(0);

  assert.equal(wakeCount(), 1);
  assert.equal(requests.length, claimCount);
  slow.resolve();
  await running;
  assert.deepEqual(ended, ["slow done"]);
});

Deno.test("a wake-up that reaches a worker whose CPU seems used up makes it claim again", async () => {
  const { add, ended, measure, slow, stop } = limitedRunner();
  await settle();
  await add("slow");
  await measure(1_100);

  await add("next");

  assert.deepEqual(ended, ["next done"]);
  slow.resolve();
  await stop();
});

Deno.test("a worker that claims again after a wake-up wakes its successor when it closes again", async () => {
  const { add, measure, slow, stop, wakeCount } = limitedRunner();
  await settle();
  await add("slow");
  await measure(1_100);
  await add("next");

  await measure(200);

  assert.equal(wakeCount(), 2);
  slow.resolve();
  await stop();
});

Deno.test("a worker without CPU for waiting work lets another isolate start", async () => {
  let measuredMs = 0;
  let wakeCount = 0;
  let lookMs = 0;
  // Each look costs something, so that using up CPU ends soon.
  const lifetime = limitedLifetime(() => measuredMs += lookMs);
  const { add, clock, slow, stop } = testRunner(100, {
    wakeSuccessor: () => {
      wakeCount++;
      return Promise.resolve();
    },
  }, lifetime);
  await settle();
  await add(...Array.from({ length: 60 }, (_, index) => `slow ${index}`));
  await clock.pass(500);
  assert.equal(wakeCount, 0, "it may have room soon");
  lookMs = 100;

  await clock.pass(1_000);
  while (wakeCount === 0) await settle();

  slow.resolve();
  await stop();
});

Deno.test("a wake-up that arrives just after a worker has closed makes it claim again", async () => {
  let onClosed = () => {};
  let measuredMs = 0;
  const limited = limitedLifetime(() => measuredMs);
  const lifetime: Lifetime = {
    ...limited,
    phaseAt(nowMs) {
      const phase = limited.phaseAt(nowMs);
      if (phase !== "open") queueMicrotask(() => onClosed());
      return phase;
    },
  };
  const runner = testRunner(4, {}, lifetime);
  await settle();
  await runner.add("slow");
  onClosed = () => {
    onClosed = () => {};
    void runner.add("next");
  };

  measuredMs = 1_100;
  await runner.clock.pass(1_000);

  assert.deepEqual(runner.ended, ["next done"]);
  runner.slow.resolve();
  await runner.stop();
});

Deno.test("a wake-up after the last work of a closed worker asks for another worker", async () => {
  const { measure, running, wake } = limitedRunner();
  await settle();
  await measure(1_100);
  await running;

  assert.equal(wake(), false);
});

Deno.test("a wake-up of the successor that fails is logged", async () => {
  const events: string[] = [];
  const meter = createCpuMeter(() => 0);
  const lifetime = createLifetime(1, { softMs: 1_000, hardMs: 2_000, meter });
  const { clock, running } = testRunner(
    1,
    { wakeSuccessor: () => Promise.reject(new Error("no connection")) },
    lifetime,
    (_level, event) => void events.push(event),
  );
  await settle();

  await clock.pass(600);
  await running;

  assert.ok(events.includes("worker.wake_failed"), events.join());
});

Deno.test("a worker that cannot record its end logs that, and ends", async () => {
  const events: string[] = [];
  const { running, stop } = testRunner(
    1,
    { stopWorker: () => Promise.reject(new Error("The connection is lost")) },
    undefined,
    (_level, event) => void events.push(event),
  );

  await stop();
  await running;

  assert.deepEqual(events.slice(-2), ["worker.stop_failed", "worker.stopped"]);
});

Deno.test("work that waited for more than a second while nothing was claimed is logged", async () => {
  const logged: unknown[] = [];
  const log: OpenLogger = (_level, event, fields) => {
    logged.push([event, fields?.["stalled_ms"]]);
  };
  const { running, stop } = testRunner(
    2,
    {
      claim: () => Promise.resolve([{ id: "late", epoch: "1" }]),
      stalledMs: () => Promise.resolve(1_500.4),
    },
    undefined,
    log,
  );

  await settle();
  await stop();
  await running;

  assert.ok(logged.some((entry) => JSON.stringify(entry) === '["queue.stalled",1500]'));
});

Deno.test("work that waited for a slot is not a stall", async () => {
  let askedCount = 0;
  const { add, clock, slow, stop } = testRunner(1, {
    stalledMs: () => {
      askedCount++;
      return Promise.resolve(5_000);
    },
  });
  await add("slow", "next");
  const before = askedCount;
  await clock.pass(5_000);

  slow.resolve();
  await settle();

  assert.equal(askedCount, before);
  await stop();
});
