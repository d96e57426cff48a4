import assert from "node:assert/strict";
import { compareVersions } from "./compare_versions.ts";

Deno.test("compareVersions() compares numbers, not text", () => {
  assert.ok(compareVersions("0.10.0", "0.9.9") > 0);
  assert.ok(compareVersions("0.1.0", "1.0.0") < 0);
  assert.equal(compareVersions("0.1.0", "0.1.0"), 0);
});
