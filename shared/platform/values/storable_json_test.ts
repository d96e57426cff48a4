import assert from "node:assert/strict";
import { toStorableJson } from "./storable_json.ts";

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
