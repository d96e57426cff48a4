import assert from "node:assert/strict";
import { retiredWords } from "./retired_words.ts";

Deno.test("retiredWords() names the line and the word to write instead", () => {
  // Put together, so that this file does not have the word.
  const word = ["do", "or"].join("");

  assert.deepEqual(retiredWords("a.ts", `one\n// This ${word} and that ${word}s`), [
    `a.ts:2: instead of "${word}" write: endpoint`,
    `a.ts:2: instead of "${word}" write: endpoint`,
  ]);
});

Deno.test("retiredWords() leaves words alone that only contain one", () => {
  assert.deepEqual(retiredWords("a.ts", "belly shallow doorway untold"), []);
});
