import assert from "node:assert/strict";
import { retiredWords } from "./retired_words.ts";

Deno.test("retiredWords() returns the line and the replacement", () => {
  // Concatenated, so that this file does not contain the word.
  const word = ["do", "or"].join("");

  assert.deepEqual(retiredWords("a.ts", `one\n// This ${word} and that ${word}s`), [
    `a.ts:2: instead of "${word}" write: endpoint`,
    `a.ts:2: instead of "${word}s" write: endpoint`,
  ]);
});

Deno.test("retiredWords() checks code, SQL and pages, and phrases with SQL's quotes", () => {
  const word = ["to", "ld"].join("");
  const phrase = ["a person''s", "leave"].join(" ");

  assert.equal(retiredWords("a.ts", `// The worker is ${word} of it.`).length, 1);
  assert.equal(retiredWords("a.md", `The worker is ${word} of it.`).length, 1);
  assert.deepEqual(retiredWords("a.sql", `-- by ${phrase}`), [
    `a.sql:1: instead of "${phrase}" write: an approval`,
  ]);
});

Deno.test("retiredWords() ignores words that only contain a retired one", () => {
  assert.deepEqual(retiredWords("a.ts", "belly shallow doorway untold"), []);
});
