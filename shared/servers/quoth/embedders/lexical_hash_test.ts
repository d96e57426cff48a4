import assert from "node:assert/strict";
import { hashWords } from "./lexical_hash.ts";

const cosine = (a: string, b: string, dimensions = 768) => {
  const [one, two] = [hashWords(a, dimensions), hashWords(b, dimensions)];
  return one.reduce((sum, value, index) => sum + value * (two[index] ?? NaN), 0);
};

Deno.test("hashWords() returns the same unit vector on every machine and in every version", () => {
  // Stored vectors are compared with those of later versions: a change here requires a new name.
  const vector = hashWords("Deno.serve() starts the server", 8).map((value) => value.toFixed(4));

  assert.deepEqual(vector, [
    ...["0.2853", "0.5389", "-0.4830", "0.3170"],
    ...["-0.1902", "0.0000", "-0.0317", "0.5072"],
  ]);
});

Deno.test("hashWords() returns length 1 for any text", () => {
  for (
    const text of ["a", "the", "", "\n\t", "!?", "日本語の文書", "x".repeat(100_000), "\ud800"]
  ) {
    for (const dimensions of [384, 768]) {
      const vector = hashWords(text, dimensions);
      assert.equal(vector.length, dimensions);
      assert.ok(Math.abs(Math.hypot(...vector) - 1) < 1e-9, JSON.stringify(text.slice(0, 10)));
    }
  }
});

Deno.test("hashWords() reflects shared names, word forms and order, but not case or Unicode form", () => {
  assert.ok(Math.abs(cosine("Row Level SECURITY", "row level security") - 1) < 1e-9);
  assert.ok(Math.abs(cosine("ﬁle", "file") - 1) < 1e-9);
  assert.ok(cosine("configure the server", "configuration of servers") > 0.25);
  assert.ok(cosine("SUPABASE_DB_URL", "set SUPABASE_DB_URL in the shell") > 0.4);
  assert.ok(cosine("dog bites man", "man bites dog") < 0.95);
  assert.ok(Math.abs(cosine("bake a cake", "row level security")) < 0.15);
});

Deno.test("hashWords() gives little weight to the most common words", () => {
  assert.ok(Math.abs(cosine("how do I bake", "how do I deploy")) < 0.15);
  assert.ok(cosine("what is this", "what is that") > 0.5);
});
