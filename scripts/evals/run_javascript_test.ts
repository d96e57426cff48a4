import assert from "node:assert/strict";
import { runJavascript } from "./run_javascript.ts";

Deno.test("runJavascript() ends a worker that does not", async () => {
  const answer = await runJavascript({ code: "while (true);\n", output: null, context: {} }, 500);

  assert.deepEqual(answer, { kind: "failed", message: "it did not end within 500 ms" });
});

Deno.test("runJavascript() answers for a value that cannot leave the worker", async () => {
  const answer = await runJavascript({ code: "() => 1", output: null, context: {} });

  assert.equal(answer.kind, "failed");
});
