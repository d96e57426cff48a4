import assert from "node:assert/strict";
import { createTurnClock } from "./turn_clock.ts";

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

Deno.test("many short turns cost what the runtime spends on them", () => {
  const { clock, endTurn } = manualTurns();

  for (let turn = 0; turn < 1_000; turn++) {
    clock.begin();
    endTurn();
  }

  assert.ok(clock.usedMs() > 10);
});
