import assert from "node:assert/strict";
import { FakeClock } from "../../platform/isolate/fake_clock.ts";
import { DeltaPace } from "./delta_pace.ts";
import { createDeltaStream } from "./delta_stream.ts";
import type { Delta } from "./task_store.ts";
import { Watch } from "../work/watch.ts";

interface SentDelta extends Delta {
  readonly atMs: number;
}

/** A stream that records its messages, and refuses them while `isRefused` is true. */
function stream(options: { pace?: DeltaPace; clock?: FakeClock; isWatched?: boolean } = {}) {
  const { clock = new FakeClock(), isWatched = true } = options;
  const pace = options.pace ?? new DeltaPace(clock);
  const watch = new Watch(clock);
  if (isWatched) watch.note(3_600);
  const sent: SentDelta[] = [];
  const asked: number[] = [];
  const refusal: { answer: () => Promise<boolean> | null } = { answer: () => null };
  const deltas = createDeltaStream({
    send: (delta) => {
      asked.push(clock.nowMs());
      const refused = refusal.answer();
      if (refused !== null) return refused;
      sent.push({ ...delta, atMs: clock.nowMs() });
      return Promise.resolve(true);
    },
    isWatched: () => watch.isOn,
    pace,
    clock,
  });
  return { clock, pace, watch, sent, asked, refusal, deltas };
}

/** Pushes one word every 10 ms. */
async function push({ clock, deltas }: ReturnType<typeof stream>, durationMs: number) {
  let text = "";
  for (let atMs = 0; atMs < durationMs; atMs += 10) {
    const word = `${atMs} `;
    deltas.push(word);
    text += word;
    await clock.advance(10);
  }
  return text;
}

Deno.test("a restarted text has the offset 0 and nothing of the old one", async () => {
  const started = stream();
  started.deltas.push("The first answ");
  await started.clock.advance(1);
  started.deltas.push("er");
  started.deltas.restart();
  started.deltas.push("The second answer");

  await started.clock.advance(10_000);
  await started.deltas.end();

  assert.deepEqual(
    started.sent.map(({ offset, text }) => [offset, text]),
    [[0, "The first answ"], [0, "The second answer"]],
  );
});

Deno.test("a message in flight when a text restarts changes no offset", async () => {
  const started = stream();
  const sending = Promise.withResolvers<boolean>();
  started.refusal.answer = () => sending.promise;
  started.deltas.push("The first answer");
  await started.clock.advance(1);
  started.deltas.restart();
  started.deltas.push("The second answer");
  started.refusal.answer = () => null;
  sending.resolve(true);

  await started.clock.advance(10_000);
  await started.deltas.end();

  assert.deepEqual(
    started.sent.map(({ offset, text }) => [offset, text]),
    [[0, "The second answer"]],
  );
});

function isWithoutGaps(sent: readonly Delta[]): boolean {
  let end = 0;
  return sent.every(({ offset, text }) => {
    const follows = offset === end;
    end = offset + text.length;
    return follows;
  });
}

Deno.test("createDeltaStream() sends the first text immediately and batches the rest", async () => {
  const { clock, sent, deltas } = stream();

  deltas.push("Ro");
  for (const text of ["ses", " are"]) {
    deltas.push(text);
    await clock.advance(20);
  }
  await clock.advance(500);
  deltas.push(" red");
  await clock.advance(500);

  assert.deepEqual(sent, [
    { offset: 0, text: "Ro", atMs: 0 },
    { offset: 2, text: "ses are", atMs: 500 },
    { offset: 9, text: " red", atMs: 1_000 },
  ]);
});

Deno.test("a task never sends more than two messages per second over all its calls", async () => {
  const clock = new FakeClock();
  const pace = new DeltaPace(clock);
  const sent: SentDelta[] = [];

  for (const durationMs of [40, 90, 700, 30, 30, 2_300, 10, 10, 10, 1_200]) {
    const call = stream({ clock, pace });
    await push(call, durationMs);
    await call.deltas.end();
    sent.push(...call.sent);
  }

  const times = sent.map(({ atMs }) => atMs);
  assert.ok(times.length >= 8, times.join());
  for (const [index, atMs] of times.entries()) {
    const third = times[index + 2] ?? Infinity;
    assert.ok(third - atMs >= 1_000, times.join());
  }
});

Deno.test("end() sends the rest without waiting if the limit allows it", async () => {
  const { clock, sent, deltas } = stream();

  deltas.push("Ro");
  await clock.advance(10);
  deltas.push("ses");
  await deltas.end();

  assert.deepEqual(sent.map(({ text }) => text), ["Ro", "ses"]);
});

Deno.test("refused text is sent with the next message, and retried at growing intervals", async () => {
  const call = stream();
  const answers = [Promise.resolve(false), Promise.reject(new Error("no database"))];
  call.refusal.answer = () => answers.shift() ?? null;

  const text = await push(call, 4_000);

  assert.deepEqual(call.asked.slice(0, 3), [0, 500, 1_500]);
  assert.equal(call.sent[0]?.offset, 0);
  assert.ok(isWithoutGaps(call.sent));
  assert.ok(text.startsWith(call.sent.map((delta) => delta.text).join("")));
});

Deno.test("nothing is sent while nobody watches, and the next message has everything since", async () => {
  const call = stream();
  call.watch.note(1);
  await push(call, 2_500);
  const before = call.asked.length;
  await push(call, 2_000);
  assert.equal(call.asked.length, before);

  call.watch.note(60);
  await push(call, 1_000);

  assert.ok(call.sent.length > before);
  assert.ok(isWithoutGaps(call.sent));
});

Deno.test("a long text is split into messages that fit a broadcast, without cutting an emoji", async () => {
  const { clock, sent, deltas } = stream();
  const text = "x".repeat(7_999) + "🌹".repeat(5_000);

  deltas.push(text);
  await clock.advance(5_000);
  await deltas.end();

  assert.equal(sent.map((delta) => delta.text).join(""), text);
  assert.ok(sent.every((delta) => delta.text.isWellFormed() && delta.text.length <= 8_000));
  assert.ok(isWithoutGaps(sent));
});
