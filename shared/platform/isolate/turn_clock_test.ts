import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import { createTurnClock, isolateTurns } from "./turn_clock.ts";

/** A clock of turns whose time the test sets, and which ends a turn when the test says so. */
function manualTurns() {
  let nowMs = 0;
  const endings: (() => void)[] = [];
  const clock = createTurnClock({
    nowMs: () => nowMs,
    afterTurn: (callback) => void endings.push(callback),
  });
  return {
    clock,
    pass(durationMs: number) {
      nowMs += durationMs;
    },
    endTurn() {
      endings.splice(0).forEach((end) => end());
    },
  };
}

Deno.test("waiting costs nothing", () => {
  const { clock, pass } = manualTurns();

  pass(60_000);

  assert.equal(clock.usedMs(), 0);
});

Deno.test("a turn counts from the first wait that ends", () => {
  const { clock, pass, endTurn } = manualTurns();

  clock.begin();
  pass(10);
  clock.begin();
  pass(10);
  endTurn();
  pass(1_000);

  // The runtime's own work comes on top.
  assert.ok(clock.usedMs() >= 20 && clock.usedMs() < 30, `${clock.usedMs()}`);
});

Deno.test("a running turn counts", () => {
  const { clock, pass } = manualTurns();

  clock.begin();
  pass(50);

  assert.equal(clock.usedMs(), 50);
});

Deno.test("what other programs take of a turn counts less the more samples have seen it", () => {
  let nowMs = 0;
  const endings: (() => void)[] = [];
  // Of each 8 ms, the isolate has the core for one.
  const clock = createTurnClock({
    nowMs() {
      nowMs += 0.001;
      if (Math.round(nowMs * 1_000) % 1_000 === 0) nowMs += 7;
      return nowMs;
    },
    afterTurn: (callback) => void endings.push(callback),
  });
  const turn = () => {
    clock.begin();
    nowMs += 40;
    endings.splice(0).forEach((end) => end());
  };

  for (let count = 0; count < 100; count++) turn();
  const beforeMs = clock.usedMs();
  for (let count = 0; count < 100; count++) turn();

  // 40 ms of which 5 are the isolate's, and the runtime's share.
  const perTurnMs = (clock.usedMs() - beforeMs) / 100;
  assert.ok(perTurnMs > 4 && perTurnMs < 10, `${perTurnMs}`);
});

Deno.test("with a clock of whole milliseconds, samples take almost no time", () => {
  let nowMs = 0;
  const endings: (() => void)[] = [];
  const clock = createTurnClock({
    nowMs() {
      nowMs += 0.001;
      return Math.floor(nowMs);
    },
    afterTurn: (callback) => void endings.push(callback),
  });

  for (let turn = 0; turn < 100; turn++) {
    clock.begin();
    nowMs += 40.5;
    endings.splice(0).forEach((end) => end());
  }

  // 100 turns of 40.5 ms, and one sample.
  assert.ok(nowMs < 4_060, `${nowMs}`);
  // The runtime's share comes on top.
  assert.ok(Math.abs(clock.usedMs() / 1.3 - 4_050) < 50, `${clock.usedMs()}`);
});

Deno.test("many short turns cost what the runtime spends on them", () => {
  const { clock, endTurn } = manualTurns();

  for (let turn = 0; turn < 1_000; turn++) {
    clock.begin();
    endTurn();
  }

  assert.ok(clock.usedMs() > 10);
});

/** Computes for 50 ms after each wait. */
async function measureAfter(wait: () => Promise<unknown>): Promise<number> {
  const clock = isolateTurns();
  // So that the turn of the test itself has ended.
  await new Promise((resolve) => setImmediate(resolve));
  const beforeMs = clock.usedMs();
  await wait();
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs);
  return clock.usedMs() - beforeMs;
}

/** A chunk that arrives when the turn of its reader has ended. */
function arrivingStream(): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    async pull(controller) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isSent) return controller.close();
      isSent = true;
      controller.enqueue(new Uint8Array(1));
    },
  });
}

Deno.test("what follows a chunk that an iteration reads counts", async () => {
  const usedMs = await measureAfter(() => arrivingStream()[Symbol.asyncIterator]().next());

  // Other programs may have the core for a part of it.
  assert.ok(usedMs > 5, `${usedMs}`);
});

Deno.test("what follows a body that is read as a blob counts", async () => {
  const usedMs = await measureAfter(() => new Response(arrivingStream()).blob());

  // Other programs may have the core for a part of it.
  assert.ok(usedMs > 5, `${usedMs}`);
});

Deno.test("what follows an encryption counts", async () => {
  const algorithm = { name: "AES-GCM", length: 256 };
  const key = await crypto.subtle.generateKey(algorithm, false, ["encrypt"]);
  const iv = new Uint8Array(12);

  const usedMs = await measureAfter(() =>
    crypto.subtle.encrypt({ name: "AES-GCM", iv }, key, new Uint8Array(1))
  );

  // Other programs may have the core for a part of it.
  assert.ok(usedMs > 5, `${usedMs}`);
});
