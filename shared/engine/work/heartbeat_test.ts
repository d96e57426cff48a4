import assert from "node:assert/strict";
import { Heartbeat } from "./heartbeat.ts";
import { HeldWork } from "./held_work.ts";
import { StopReason } from "./stop_reason.ts";

Deno.test("work stops when its leases could not be renewed until they expired", async () => {
  let nowMs = 0;
  const held = new HeldWork();
  const stopped = Promise.withResolvers<unknown>();
  const work = held.hold({ id: "task", epoch: "1" }, ({ signal }) => {
    signal.addEventListener("abort", () => stopped.resolve(signal.reason));
    return stopped.promise;
  });
  const failedAtMs: number[] = [];
  const heartbeat = new Heartbeat({
    workerId: "worker",
    held,
    kind: { renew: () => Promise.reject(new Error("no database")) },
    clock: {
      nowMs: () => nowMs,
      sleep: (durationMs) => {
        nowMs += durationMs;
        return Promise.resolve();
      },
    },
    log: () => {
      failedAtMs.push(nowMs);
      // Long after the lease, so that a worker that goes on ends the test as well.
      if (nowMs >= 100_000) stopped.resolve("it goes on");
    },
    heartbeatSeconds: 10,
    leaseSeconds: 30,
  });
  const beating = heartbeat.run();

  const reason = await stopped.promise;
  heartbeat.stop();
  await Promise.all([work, beating]);

  assert.ok(reason instanceof StopReason, String(reason));
  assert.equal(reason.kind, "lost");
  assert.deepEqual(failedAtMs.slice(0, 3), [10_000, 20_000, 30_000]);
});
