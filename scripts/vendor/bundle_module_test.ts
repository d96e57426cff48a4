import assert from "node:assert/strict";
import { applyPatch } from "./bundle_module.ts";

const SOURCE = "this.files = new Files();\nthis.chat = new Chat();\n";

Deno.test("applyPatch() replaces the code as often as the patch says", () => {
  const file = "client.mjs";

  assert.equal(
    applyPatch(SOURCE, { file, from: "new Chat()", to: "$&" }),
    "this.files = new Files();\nthis.chat = $&;\n",
  );
  assert.equal(applyPatch(SOURCE, { file, from: /^this.*\n/gm, to: "", matches: 2 }), "");
});

Deno.test("applyPatch() refuses a patch that a new version of the package no longer fits", () => {
  const file = "client.mjs";

  assert.throws(
    () => applyPatch(SOURCE, { file, from: "new Images()", to: "" }),
    /^Error: Cannot patch client\.mjs: it contains new Images\(\) 0 times, not 1$/,
  );
  assert.throws(() => applyPatch(SOURCE, { file, from: /^this.*\n/gm, to: "" }), /2 times, not 1$/);
});
