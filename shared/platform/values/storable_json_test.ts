import assert from "node:assert/strict";
import { pathOfNul, toStorableJson } from "./storable_json.ts";

Deno.test("toStorableJson() replaces what Postgres refuses, in keys and values at any depth", () => {
  const value = { "a\0": ["x\0y", { b: "\ud83d" }], n: 1, t: true, z: null };

  assert.deepEqual(toStorableJson(value), {
    "a\uFFFD": ["x\uFFFDy", { b: "\uFFFD" }],
    n: 1,
    t: true,
    z: null,
  });
});

Deno.test("toStorableJson() keeps complete emoji and other text", () => {
  assert.equal(toStorableJson("😀 ß \\u0000"), "😀 ß \\u0000");
});

Deno.test("pathOfNul() names the first text or key with U+0000", () => {
  assert.equal(pathOfNul({ a: [1, { b: "x" }, { c: ["y", "z\0"] }] }), "a.2.c.1");
  assert.equal(pathOfNul({ "k\0": 1 }), "k\uFFFD");
  assert.equal(pathOfNul({ a: ["\\u0000", null, true] }), null);
});
