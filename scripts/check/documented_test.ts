import assert from "node:assert/strict";
import { undocumented } from "./documented.ts";

Deno.test("undocumented() names what a page lacks, and not what it has", () => {
  const problems = undocumented(
    [{ page: "a.md", names: ["ONE", "TWO"] }],
    () => "| `ONE` | first |",
  );

  assert.deepEqual(problems, ["a.md does not name TWO"]);
});
