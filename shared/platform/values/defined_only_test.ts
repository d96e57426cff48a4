import assert from "node:assert/strict";
import { definedOnly } from "./defined_only.ts";

Deno.test("definedOnly() removes only undefined members", () => {
  const members = definedOnly({ a: undefined, b: null, c: 0, d: "", e: false });

  assert.deepEqual(Object.keys(members), ["b", "c", "d", "e"]);
  assert.deepEqual(members, { b: null, c: 0, d: "", e: false });
});

Deno.test("definedOnly() matches types whose members may be absent but not undefined", () => {
  const hint: string | undefined = Deno.args[999];
  const error: { readonly code: string; readonly hint?: string } = {
    code: "INTERNAL",
    ...definedOnly({ hint }),
  };

  assert.ok(!("hint" in error));
});
