import assert from "node:assert/strict";
import { describeProgress } from "./describe_progress.ts";

Deno.test("describeProgress() names the step, its position, what it does and how much is done", () => {
  const step = "Opening the database";

  assert.equal(describeProgress({ step, doing: null, done: null }), "[1/4] Opening the database …");
  assert.equal(
    describeProgress({ step, doing: "waiting for another start", done: null }),
    "[1/4] Opening the database: waiting for another start …",
  );
  assert.equal(
    describeProgress({ step, doing: "creating the database", done: 0.999 }),
    "[1/4] Opening the database: creating the database, 99 %",
  );
});
