import assert from "node:assert/strict";
import { lockedClosure } from "./locked_closure.ts";

const LOCK = JSON.stringify({
  version: "5",
  specifiers: { "npm:@a/sdk@1.0.0": "1.0.0_zod@4.0.0", "npm:other@3.0.0": "3.0.0" },
  npm: {
    "@a/sdk@1.0.0_zod@4.0.0": { integrity: "sha512-a", dependencies: ["@a/core", "twice@1.0.0"] },
    "@a/core@2.0.0": { integrity: "sha512-b", dependencies: ["@a/sdk"] },
    "other@3.0.0": { integrity: "sha512-c", dependencies: ["twice@2.0.0"] },
    "twice@1.0.0": { integrity: "sha512-d" },
    "twice@2.0.0": { integrity: "sha512-e" },
  },
});

Deno.test("lockedClosure() keeps only a package and its dependencies", () => {
  const closure = JSON.parse(lockedClosure(LOCK, ["npm:@a/sdk@1.0.0"]));

  assert.deepEqual(closure.specifiers, { "npm:@a/sdk@1.0.0": "1.0.0_zod@4.0.0" });
  assert.deepEqual(Object.keys(closure.npm), [
    "@a/core@2.0.0",
    "@a/sdk@1.0.0_zod@4.0.0",
    "twice@1.0.0",
  ]);
  assert.equal(closure.npm["twice@1.0.0"].integrity, "sha512-d");
  // As Deno writes it, because the other version is not kept.
  assert.deepEqual(closure.npm["@a/sdk@1.0.0_zod@4.0.0"].dependencies, ["@a/core", "twice"]);
});

Deno.test("lockedClosure() refuses a version that is not in the lock file", () => {
  assert.throws(
    () => lockedClosure(LOCK, ["npm:@a/sdk@1.1.0"]),
    /no entry for npm:@a\/sdk@1\.1\.0\. Run deno task vendor/,
  );
});
