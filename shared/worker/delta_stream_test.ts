import assert from "node:assert/strict";
import { FakeClock } from "../../tests/worker/fake_clock.ts";
import { createDeltaStream } from "./delta_stream.ts";

function stream(fails = false) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const deltas = createDeltaStream((text) => {
    sent.push(text);
    return fails ? Promise.reject(new Error("no")) : Promise.resolve();
  }, clock);
  return { clock, sent, deltas };
}

Deno.test("createDeltaStream() sends the first text at once and gathers the rest", async () => {
  const { clock, sent, deltas } = stream();

  deltas.push("Ro");
  for (const text of ["ses", " are"]) {
    deltas.push(text);
    await clock.advance(20);
  }
  await clock.advance(100);
  deltas.push(" red");
  await clock.advance(100);

  assert.deepEqual(sent, ["Ro", "ses are", " red"]);
});

Deno.test("end() sends what is left without waiting for the interval", async () => {
  const { sent, deltas } = stream();

  deltas.push("Ro");
  deltas.push("ses");
  await deltas.end();

  assert.deepEqual(sent, ["Ro", "ses"]);
});

Deno.test("a message that cannot be sent is dropped without harm", async () => {
  const { sent, deltas } = stream(true);

  deltas.push("Ro");
  await deltas.end();

  assert.deepEqual(sent, ["Ro"]);
});

Deno.test("a long text goes in messages that a broadcast can carry, with no emoji cut", async () => {
  const { sent, deltas } = stream();
  const text = "x".repeat(7_999) + "🌹".repeat(5_000);

  deltas.push(text);
  await deltas.end();

  assert.equal(sent.join(""), text);
  assert.ok(sent.every((part) => part.isWellFormed() && part.length <= 8_000));
});
