import assert from "node:assert/strict";
import { nextTurn } from "../../platform/isolate/next_turn.ts";
import { gather } from "./gather.ts";

/** A run that the test ends, and its items. */
function heldRuns() {
  const batches: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const run = (items: readonly number[]) => {
    batches.push(items);
    return new Promise<readonly number[]>((resolve) => {
      ends.push(() => resolve(items.map((item) => item * 10)));
    });
  };
  /** Waits until a run has begun, and ends it. */
  const end = async (index: number) => {
    while (ends.length <= index) await nextTurn();
    ends[index]?.();
  };
  return { batches, end, run };
}

Deno.test("gather() runs the first call immediately and batches those that arrive meanwhile", async () => {
  const { batches, end, run } = heldRuns();
  const call = gather(run, 10);

  const first = call(1);
  while (batches.length === 0) await nextTurn();
  const others = [call(2), call(3)];
  await end(0);
  await end(1);

  assert.deepEqual([await first, ...await Promise.all(others)], [10, 20, 30]);
  assert.deepEqual(batches, [[1], [2, 3]]);
});

Deno.test("gather() batches the calls of one turn, however many promises they wait for", async () => {
  const { batches, end, run } = heldRuns();
  const call = gather(run, 10);

  const first = call(1);
  for (let step = 0; step < 20; step++) await Promise.resolve();
  const second = call(2);
  await end(0);

  assert.deepEqual([await first, await second], [10, 20]);
  assert.deepEqual(batches, [[1, 2]]);
});

Deno.test("gather() limits the number of concurrent runs", async () => {
  const { batches, end, run } = heldRuns();
  const call = gather(run, 2);

  const all = [call(1), call(2), call(3)];
  await end(0);
  await end(1);

  assert.deepEqual(await Promise.all(all), [10, 20, 30]);
  assert.deepEqual(batches, [[1, 2], [3]]);
});

Deno.test("gather() continues after a failed run", async () => {
  let runs = 0;
  const call = gather((items: readonly number[]) => {
    return runs++ === 0 ? Promise.reject(new Error("down")) : Promise.resolve(items);
  }, 10);

  await assert.rejects(call(1), /down/);
  assert.equal(await call(2), 2);
});
