import assert from "node:assert/strict";
import { beginningOf } from "./beginning_of.ts";

Deno.test("beginningOf() keeps whole characters", () => {
  assert.equal(beginningOf("a😀b", 3), "a😀");
  assert.equal(beginningOf("a😀b", 2), "a");
  assert.equal(beginningOf("a", 2), "a");
  assert.equal(beginningOf("\uD83Dab", 2), "\uFFFDa");
});
