import assert from "node:assert/strict";
import { undocumented } from "./documented.ts";

Deno.test("undocumented() returns only the names that a page lacks", () => {
  const problems = undocumented(
    [{ page: "a.md", names: ["ONE", "TWO"] }],
    () => "| `ONE` | first |",
  );

  assert.deepEqual(problems, ["a.md does not name TWO"]);
});
