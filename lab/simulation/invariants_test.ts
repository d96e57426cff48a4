import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { INVARIANTS } from "./invariants.ts";

Deno.test("the page about proofs lists every invariant of the worlds", async () => {
  const page = await Deno.readTextFile(join(PROJECT_ROOT, "docs/decisions/proof.md"));
  const listed = [...page.matchAll(/^\| ([^|]+?) +\|/gm)].map(([, cell]) => cell);
  assert.deepEqual(INVARIANTS.filter((name) => !listed.includes(name)), []);
});
