import assert from "node:assert/strict";
import { checkVariants } from "./generated.ts";

Deno.test("no part that a server sends costs the parts beside it, whatever its value is", async () => {
  const counts = Object.values(await checkVariants(1));

  const total = counts.reduce((sum, count) => sum + count, 0);
  assert.ok(counts.length > 20 && total > 7_000, `${total} variants of ${counts.length} documents`);
});
