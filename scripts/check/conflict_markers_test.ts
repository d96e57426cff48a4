import assert from "node:assert/strict";
import { conflictMarkers } from "./conflict_markers.ts";

Deno.test("conflictMarkers() returns the lines of both ends of a conflict", () => {
  const page = ["one", `${"<".repeat(7)} HEAD`, "two", `${">".repeat(7)} branch`].join("\n");

  assert.deepEqual(conflictMarkers("a.md", page), [
    "a.md:2: a conflict is not resolved",
    "a.md:4: a conflict is not resolved",
  ]);
});

Deno.test("conflictMarkers() ignores a quote inside a quote", () => {
  assert.deepEqual(conflictMarkers("a.md", "> > text\n=======\n"), []);
});
