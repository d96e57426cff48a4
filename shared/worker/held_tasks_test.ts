import assert from "node:assert/strict";
import { HeldTasks } from "./held_tasks.ts";
import { StopReason } from "./stop_reason.ts";
import type { LeaseState } from "./task_store.ts";

/** Holds a task under one lease after another; each stays until the test has ended. */
function heldLeases(epochs: readonly string[]) {
  const tasks = new HeldTasks();
  const signals = epochs.map((epoch) => {
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    void tasks.hold({ taskId: "task", epoch }, (signal) => {
      resolve(signal);
      return new Promise(() => {});
    });
    return promise;
  });
  const heed = (epoch: string, state: LeaseState["state"]) =>
    tasks.heed([{ taskId: "task", epoch, state }]);
  const reasons = async () =>
    (await Promise.all(signals)).map(({ reason }) =>
      reason instanceof StopReason ? reason.kind : undefined
    );
  return { tasks, heed, reasons };
}

Deno.test("heed() stops a task whose lease is lost", async () => {
  const { tasks, heed, reasons } = heldLeases(["1"]);

  heed("1", "lost");

  assert.deepEqual(await reasons(), ["lost"]);
  assert.deepEqual(tasks.leases, []);
});

Deno.test("heed() lets a task run whose earlier lease is answered for, late", async () => {
  for (const state of ["lost", "cancelled"] as const) {
    const { tasks, heed, reasons } = heldLeases(["2"]);

    heed("1", state);

    assert.deepEqual(await reasons(), [undefined]);
    assert.deepEqual(tasks.leases, [{ taskId: "task", epoch: "2" }]);
  }
});

Deno.test("hold() stops what still runs under an earlier lease", async () => {
  const { reasons } = heldLeases(["1", "2"]);

  assert.deepEqual(await reasons(), ["lost", undefined]);
});
