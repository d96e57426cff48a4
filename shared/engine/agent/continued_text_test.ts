import assert from "node:assert/strict";
import { createContinuedStream, withoutRepetition } from "./continued_text.ts";

/** What a stream of these pieces passes on. */
function streamed(before: string, pieces: readonly string[]): string[] {
  const passed: string[] = [];
  const stream = createContinuedStream(before, (text) => passed.push(text));
  for (const piece of pieces) stream.push(piece);
  stream.end();
  return passed;
}

const BEFORE = "The quick brown fox jumps over";

Deno.test("a continuation loses the words that it repeats of the end, also while it streams", () => {
  for (
    const [rest, expected] of [
      [" the lazy dog.", " the lazy dog."],
      ["jumps over the lazy dog.", " the lazy dog."],
      [`${BEFORE} the lazy dog.`, " the lazy dog."],
      ["over the lazy dog.", "over the lazy dog."],
      [BEFORE, ""],
    ] as const
  ) {
    assert.equal(withoutRepetition(BEFORE, rest), expected);
    assert.equal(streamed(BEFORE, rest.split(/(?<= )/)).join(""), expected);
    assert.equal(streamed(BEFORE, [...rest]).join(""), expected);
  }
});

Deno.test("a continuation of a text that repeats itself stays as it is", () => {
  const row = "0, 0, 0, 0\n";

  assert.equal(withoutRepetition(row.repeat(3), row + row), row + row);
  assert.equal(streamed("ha".repeat(40), ["ha".repeat(20), "!"]).join(""), `${"ha".repeat(20)}!`);
});

Deno.test("a continuation streams as soon as it differs from what was there", () => {
  assert.deepEqual(streamed(BEFORE, ["brown", " bear", "s"]), ["brown bear", "s"]);
});

Deno.test("a continuation that starts again is compared again", () => {
  const passed: string[] = [];
  const stream = createContinuedStream(BEFORE, (text) => passed.push(text));

  stream.push(" the dog");
  stream.restart();
  stream.push("jumps over the cat");
  stream.end();

  assert.deepEqual(passed, [" the dog", " the cat"]);
});
