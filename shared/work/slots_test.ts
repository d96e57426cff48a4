import assert from "node:assert/strict";
import { type Slot, Slots } from "./slots.ts";

const never = new AbortController().signal;

/** Slots with a clock that the test controls. */
function testSlots(count: number) {
  let nowMs = 0;
  let freed = 0;
  const slots = new Slots({ count, nowMs: () => nowMs, onFree: () => freed++ });
  const take = async (signal: AbortSignal = never): Promise<Slot> => {
    const slot = await slots.take(signal);
    assert.ok(slot !== null);
    return slot;
  };
  /** One piece of work of the given length. */
  const work = async (durationMs: number) => {
    const slot = await take();
    nowMs += durationMs;
    slot.free();
  };
  return { slots, take, work, freedCount: () => freed, pass: (ms: number) => nowMs += ms };
}

Deno.test("a freed slot goes to the work that has waited longest", async () => {
  const { slots, take } = testSlots(1);
  const begun: string[] = [];
  const running = await take();
  const first = take().then((slot) => (begun.push("first"), slot));
  const second = take().then((slot) => (begun.push("second"), slot));
  assert.deepEqual([slots.freeCount, slots.waitingCount], [0, 2]);

  running.free();
  (await first).free();
  await second;

  assert.deepEqual(begun, ["first", "second"]);
});

Deno.test("free() frees a slot once, however often it is called", async () => {
  const { slots, take, freedCount } = testSlots(2);
  const slot = await take();

  slot.free();
  slot.free();

  assert.deepEqual([slots.freeCount, freedCount()], [2, 1]);
});

Deno.test("work that is stopped while it waits gets no slot and blocks no other work", async () => {
  const { slots, take } = testSlots(1);
  const running = await take();
  const stop = new AbortController();
  const stopped = slots.take(stop.signal);
  const next = take();

  stop.abort();
  assert.equal(await stopped, null);
  running.free();

  (await next).free();
  assert.equal(slots.freeCount, 1);
});

Deno.test("aheadCount is positive only while work is fast", async () => {
  const { slots, work } = testSlots(4);
  assert.equal(slots.aheadCount, 0, "no work has been measured yet");

  await work(2);
  assert.equal(slots.aheadCount, 150);

  for (let pieces = 0; pieces < 3; pieces++) await work(200);
  assert.equal(slots.aheadCount, 0);

  for (let pieces = 0; pieces < 30; pieces++) await work(2);
  assert.equal(slots.aheadCount, 150);
});

Deno.test("aheadCount is what the slots finish in a tenth of a second", async () => {
  const { slots, work } = testSlots(8);

  await work(40);

  assert.equal(slots.aheadCount, 20);
});

Deno.test("aheadCount subtracts waiting work, and is 0 for a few slots", async () => {
  const { slots, take, work } = testSlots(1);
  await work(2);
  const running = await take();
  const waiting = Array.from({ length: 25 }, () => take());
  assert.equal(slots.aheadCount, 25);

  waiting.push(take());
  assert.equal(slots.aheadCount, 0);

  running.free();
  for (const slot of waiting) (await slot).free();
});

Deno.test("refuse() answers only work that has waited too long", async () => {
  const { slots, take, pass } = testSlots(1);
  const running = await take();
  const early = slots.take(never);
  pass(600);
  const late = take();
  pass(400);

  slots.refuse(1_000);

  assert.equal(await early, null);
  assert.equal(slots.waitingCount, 1);
  running.free();
  (await late).free();
});
