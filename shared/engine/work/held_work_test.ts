import assert from "node:assert/strict";
import { nextTurn } from "../../platform/isolate/next_turn.ts";
import { HeldWork } from "./held_work.ts";
import { StopReason } from "./stop_reason.ts";
import type { LeaseState } from "./work_kind.ts";

/** Holds a task under one lease after another; each stays until the test has ended. */
function heldLeases(epochs: readonly string[]) {
  const held = new HeldWork();
  const signals = epochs.map((epoch) => {
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    void held.hold({ id: "task", epoch }, ({ signal }) => {
      resolve(signal);
      return new Promise(() => {});
    });
    return promise;
  });
  const apply = (epoch: string, state: LeaseState["state"]) =>
    held.apply([{ id: "task", epoch, state }]);
  const reasons = async () =>
    (await Promise.all(signals)).map(({ reason }) =>
      reason instanceof StopReason ? reason.kind : undefined
    );
  return { held, apply, reasons };
}

Deno.test("apply() stops work whose lease is lost, and cancelled work", async () => {
  for (const state of ["lost", "cancelled"] as const) {
    const { held, apply, reasons } = heldLeases(["1"]);

    apply("1", state);

    assert.deepEqual(await reasons(), [state]);
    assert.deepEqual(held.leases, []);
  }
});

Deno.test("apply() keeps work running when a late answer concerns an earlier lease", async () => {
  for (const state of ["lost", "cancelled"] as const) {
    const { held, apply, reasons } = heldLeases(["2"]);

    apply("1", state);

    assert.deepEqual(await reasons(), [undefined]);
    assert.deepEqual(held.leases, [{ id: "task", epoch: "2" }]);
  }
});

Deno.test("hold() stops work that still runs under an earlier lease", async () => {
  const { reasons } = heldLeases(["1", "2"]);

  assert.deepEqual(await reasons(), ["lost", undefined]);
});

Deno.test("hold() stops work under an earlier lease when one before that has ended", async () => {
  const held = new HeldWork();
  const first = Promise.withResolvers<void>();
  void held.hold({ id: "task", epoch: "1" }, () => first.promise);
  const second = Promise.withResolvers<AbortSignal>();
  void held.hold({ id: "task", epoch: "2" }, ({ signal }) => {
    second.resolve(signal);
    return new Promise(() => {});
  });
  first.resolve();
  await nextTurn();
  assert.equal(held.count, 1);

  void held.hold({ id: "task", epoch: "3" }, () => new Promise(() => {}));

  assert.equal((await second.promise).aborted, true);
});
