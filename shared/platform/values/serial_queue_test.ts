import assert from "node:assert/strict";
import { createSerialQueue } from "./serial_queue.ts";

const never = new AbortController().signal;

Deno.test("work runs one after the other, also after work that fails", async () => {
  const queue = createSerialQueue(60_000);
  const log: string[] = [];
  const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
  const works = gates.map(({ promise }, index) =>
    queue(async () => {
      log.push(`begin ${index}`);
      await promise;
      log.push(`end ${index}`);
      return index;
    }, never)
  );
  gates[1]?.reject(new Error("no"));
  gates[2]?.resolve();
  gates[0]?.resolve();
  assert.deepEqual(
    (await Promise.allSettled(works)).map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  assert.deepEqual(log, ["begin 0", "end 0", "begin 1", "begin 2", "end 2"]);
});

Deno.test("work whose signal aborts leaves before its turn, but is completed once it has begun", async () => {
  const queue = createSerialQueue(60_000);
  const gate = Promise.withResolvers<string>();
  const begun = new AbortController();
  const waiting = new AbortController();
  const first = queue(() => gate.promise, begun.signal);
  const second = queue(() => Promise.reject(new Error("must not run")), waiting.signal);
  const third = queue(() => Promise.resolve("third"), never);
  await Promise.resolve();
  begun.abort();
  waiting.abort(new Error("left"));
  await assert.rejects(second, /left/);
  gate.resolve("first");
  assert.deepEqual(await Promise.all([first, third]), ["first", "third"]);
});

Deno.test("work that takes longer than the queue's patience lets the next one run", async () => {
  const queue = createSerialQueue(1);
  const gate = Promise.withResolvers<string>();
  const slow = queue(() => gate.promise, never);
  assert.equal(await queue(() => Promise.resolve("next"), never), "next");
  gate.resolve("slow");
  assert.equal(await slow, "slow");
});
