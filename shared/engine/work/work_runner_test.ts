import assert from "node:assert/strict";
import type { Clock } from "../../platform/isolate/clock.ts";
import { createCpuMeter } from "../../platform/isolate/cpu_meter.ts";
import { createLifetime, type Lifetime } from "../../platform/isolate/lifetime.ts";
import type { Logger } from "../../platform/log/logger.ts";
import { StopReason } from "./stop_reason.ts";
import type { ClaimedWork, ClaimRequest, WorkKind, WorkListener } from "./work_kind.ts";
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

/** A runner of work that takes no time, except pieces named "slow", which end at `end()`. */
function testRunner(
  slots: number,
  parts: Partial<WorkKind> = {},
  lifetime: Lifetime = createLifetime(36_000),
  log: Logger = () => {},
) {
  const clock = new ManualClock();
  const waiting: string[] = [];
  const requests: ClaimRequest[] = [];
  const ended: string[] = [];
  const slow = Promise.withResolvers<void>();
  let listener: WorkListener | undefined;
  const kind: WorkKind = {
    noun: "piece",
    claim: (_workerId, request) => {
      requests.push(request);
      const claimed = waiting.splice(0, request.limit);
      return Promise.resolve(claimed.map((id): ClaimedWork => ({ id, epoch: "1" })));
    },
    renew: () => Promise.resolve([]),
    run: async ({ id }, { signal }) => {
      if (id === "slow") {
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => resolve());
        await Promise.race([slow.promise, promise]);
      }
      ended.push(`${id} done`);
      return "done";
    },
    letGo: ({ id }, { kind }) => {
      ended.push(`${id} ${kind}`);
      return Promise.resolve("let go");
    },
    wakeSuccessor: () => Promise.resolve(),
    ...parts,
  };
  const runner = new WorkRunner({
    id: "runner",
    kind,
    settings: { slots, leaseSeconds: 30, heartbeatSeconds: 10, idleSeconds: 3_600 },
    lifetime,
    clock,
    log,
    listen: async (heard, signal) => {
      listener = heard;
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    },
  });
  const running = runner.run();
  return {
    clock,
    async listens(isListening: boolean) {
      listener?.onListening?.(isListening);
      await settle();
    },
    async hand(...ids: readonly string[]) {
      waiting.push(...ids);
      listener?.onHint("handed");
      await settle();
    },
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

Deno.test("quick work is claimed ahead of free slots after a full claim", async () => {
  const { add, requests, stop } = testRunner(2);
  await settle();

  await add("a", "b");
  const [idle, filled, next] = requests;

  assert.deepEqual([idle?.limit, idle?.isAhead], [2, false]);
  assert.deepEqual([filled?.limit, filled?.isAhead], [2, false]);
  assert.deepEqual([next?.limit, next?.isAhead], [152, true]);
  await stop();
});

Deno.test("the next claim is made when quick work has freed its slots, and is as large", async () => {
  const { add, requests, stop } = testRunner(2);
  await settle();

  await add(...Array.from({ length: 2 + 152 + 1 }, (_, index) => `${index}`));

  assert.deepEqual(requests.slice(0, 4).map(({ limit }) => limit), [2, 2, 152, 152]);
  await stop();
});

Deno.test("a kind whose work cannot be returned is not claimed ahead", async () => {
  const { add, requests, stop } = testRunner(2, { letGo: undefined as never });
  await settle();

  await add("a", "b");

  assert.deepEqual([...new Set(requests.map(({ limit }) => limit))], [2]);
  await stop();
});

Deno.test("work that waits one second for a slot is returned", async () => {
  const { add, clock, ended, slow, stop } = testRunner(1);
  await settle();
  await add("quick", "slow", "second", "third");
  assert.deepEqual(ended, ["quick done"]);

  await clock.pass(999);
  assert.deepEqual(ended, ["quick done"], "not before");
  await clock.pass(1);

  assert.deepEqual(ended, ["quick done", "second yield", "third yield"]);
  slow.resolve();
  await stop();
});

Deno.test("a worker that unloads returns waiting work without starting it", async () => {
  const { add, ended, stop } = testRunner(1);
  await settle();
  await add("quick", "slow", "second");

  await stop();

  assert.deepEqual(ended.toSorted(), ["quick done", "second yield", "slow done"]);
});

Deno.test("free slots are offered while the worker listens", async () => {
  const { add, listens, requests, stop } = testRunner(2);
  await settle();

  await listens(true);
  await add("slow");
  await add();
  await listens(false);
  await add();

  assert.deepEqual(requests.map(({ offeredSlots }) => offeredSlots), [null, 2, 2, 1, null]);
  await stop();
});

Deno.test("handed-over work is fetched even if other work has taken its slot", async () => {
  const { add, ended, hand, listens, requests, slow, stop } = testRunner(1, {
    fetchHanded: () => Promise.resolve([{ id: "handed", epoch: "1" }]),
  });
  await settle();
  await listens(true);

  await add("slow");
  const countBefore = requests.length;
  await hand();

  assert.equal(requests.length, countBefore, "without a claim");
  assert.deepEqual(ended, []);
  slow.resolve();
  await settle();
  assert.deepEqual(ended, ["slow done", "handed done"]);
  await stop();
});

Deno.test("handed-over work is fetched immediately, while a claim is pending", async () => {
  const claim = Promise.withResolvers<[]>();
  const { hand, ended, stop } = testRunner(1, {
    claim: () => claim.promise,
    fetchHanded: () => Promise.resolve([{ id: "a", epoch: "1" }]),
  });
  await settle();

  await hand();

  assert.deepEqual(ended, ["a done"]);
  claim.resolve([]);
  await stop();
});

Deno.test("a failed fetch of handed-over work is followed by a claim, which fetches it too", async () => {
  const { hand, requests, stop } = testRunner(1, {
    fetchHanded: () => Promise.reject(new TypeError("no answer")),
  });
  await settle();
  const countBefore = requests.length;

  await hand();

  assert.equal(requests.length, countBefore + 1);
  await stop();
});

Deno.test("handed-over work that arrives while the worker unloads is returned", async () => {
  const fetched = Promise.withResolvers<ClaimedWork[]>();
  const reasons: unknown[] = [];
  const { hand, stop } = testRunner(1, {
    fetchHanded: () => fetched.promise,
    run: (_work, { signal }) => {
      reasons.push(signal.reason);
      return Promise.resolve("yielded");
    },
  });
  await settle();
  await hand();

  const stopped = stop();
  await settle();
  fetched.resolve([{ id: "a", epoch: "1" }]);
  await stopped;

  const [reason] = reasons;
  assert.ok(reason instanceof StopReason);
  assert.equal(reason.kind, "yield");
});

Deno.test("a worker that stops claiming fetches nothing, because it returns what it has not fetched", async () => {
  let fetchCount = 0;
  const { hand, stop } = testRunner(1, {
    fetchHanded: () => {
      fetchCount++;
      return Promise.resolve([]);
    },
  });
  await settle();

  const stopped = stop();
  await hand();
  await stopped;

  assert.equal(fetchCount, 0);
});

Deno.test("a worker withdraws its offer when it stops claiming, before its work ends", async () => {
  const withdrawn: string[] = [];
  const { add, ended, listens, stop } = testRunner(1, {
    withdraw: (workerId) => {
      withdrawn.push(`${workerId} after ${ended.length}`);
      return Promise.resolve();
    },
  });
  await settle();
  await listens(true);
  await add("slow");

  await stop();

  assert.deepEqual(withdrawn, ["runner after 0"]);
});

/** A worker under the hosted CPU limits that counts how often it wakes its successor. */
function limitedRunner() {
  let measuredMs = 0;
  let wakeCount = 0;
  const meter = createCpuMeter(() => measuredMs);
  const lifetime = createLifetime(36_000, { softMs: 1_000, hardMs: 2_000, meter });
  const runner = testRunner(4, {
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
  // Each look costs something, so that using up CPU ends without waiting.
  const meter = createCpuMeter(() => measuredMs += lookMs);
  const lifetime = createLifetime(36_000, { softMs: 1_000, hardMs: 2_000, meter });
  lifetime.noteStream(200);
  const { add, clock, slow, stop } = testRunner(8, {
    wakeSuccessor: () => {
      wakeCount++;
      return Promise.resolve();
    },
    run: async (_work, { watch }) => {
      watch.note(60);
      await slow.promise;
      return "done";
    },
  }, lifetime);
  await settle();
  measuredMs = 850;
  await add("one", "two", "three", "four");
  lookMs = 10;

  await clock.pass(1_000);
  await settle();

  assert.equal(wakeCount, 1);
  slow.resolve();
  await stop();
});

Deno.test("a wake-up that arrives just after a worker has closed makes it claim again", async () => {
  let onClosed = () => {};
  let measuredMs = 0;
  const meter = createCpuMeter(() => measuredMs);
  const limited = createLifetime(36_000, { softMs: 1_000, hardMs: 2_000, meter });
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

Deno.test("work that waited for more than a second while nothing was claimed is logged", async () => {
  const logged: unknown[] = [];
  const { running, stop } = testRunner(
    2,
    {
      claim: () => Promise.resolve([{ id: "late", epoch: "1" }]),
      stalledMs: () => Promise.resolve(1_500.4),
    },
    undefined,
    (_level, event, fields) => void logged.push([event, fields?.["stalled_ms"]]),
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
    letGo: undefined as never,
  });
  await add("slow", "next");
  const before = askedCount;
  await clock.pass(5_000);

  slow.resolve();
  await settle();

  assert.equal(askedCount, before);
  await stop();
});
