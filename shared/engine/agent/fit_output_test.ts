import assert from "node:assert/strict";
import { fitOutput } from "./fit_output.ts";

Deno.test("a result with a long number is a result, unlike arguments with one", () => {
  const schema = { type: "object", properties: { count: { type: "number" } } };

  assert.equal(fitOutput('{"count": 9007199254740993}', schema).kind, "fits");
});
