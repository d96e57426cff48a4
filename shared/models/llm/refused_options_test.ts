import assert from "node:assert/strict";
import { RefusedOptions } from "./refused_options.ts";

Deno.test("RefusedOptions remembers the last count, and forgets the oldest of too many", () => {
  const refused = new RefusedOptions();
  refused.remember("first", 1);
  refused.remember("again", 1);
  refused.remember("again", 2);

  assert.deepEqual([refused.countOf("first"), refused.countOf("again")], [1, 2]);
  for (let index = 0; index < 199; index++) refused.remember(`other ${index}`, 1);

  assert.deepEqual([refused.countOf("first"), refused.countOf("again")], [0, 2]);
});
