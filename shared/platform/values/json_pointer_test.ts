import assert from "node:assert/strict";
import { fragmentNames, pointerNames, valueAt } from "./json_pointer.ts";

Deno.test("a pointer names members by RFC 6901, and in a fragment also by percent-encoding", () => {
  assert.deepEqual(pointerNames("/a~1b/~01/%20/0"), ["a/b", "~1", "%20", "0"]);
  assert.deepEqual(fragmentNames("#/a~1b/%20/%"), ["a/b", " ", "%"]);
});

Deno.test("valueAt() finds items and own members only", () => {
  const root = { a: [{ "b/c": 1 }], ["__proto__"]: 2 };

  assert.equal(valueAt(root, ["a", "0", "b/c"]), 1);
  assert.equal(valueAt(root, ["__proto__"]), 2);
  for (const names of [["constructor"], ["a", "length"], ["a", "00"], ["a", "0", "toString"]]) {
    assert.equal(valueAt(root, names), undefined, names.join("/"));
  }
});
