import assert from "node:assert/strict";
import { judgeScenario } from "./judge_scenario.ts";

const success = { id: "a", status: "SUCCESS" };

Deno.test("a scenario passes with a success and no failure", () => {
  const warning = { id: "b", status: "WARNING" };
  assert.equal(judgeScenario("tools-list", [success, warning]).kind, "passed");
  const failure = { id: "b", status: "FAILURE", errorMessage: "no" };
  assert.deepEqual(judgeScenario("tools-list", [success, failure]), {
    kind: "failed",
    reason: "b: no",
  });
});

Deno.test("a scenario without checks does not pass", () => {
  assert.equal(judgeScenario("tools-list", []).kind, "unchecked");
  assert.equal(judgeScenario("tools-list", [{ id: "a", status: "SKIPPED" }]).kind, "unchecked");
});

Deno.test("the text of an error is not a success, unless an error is expected", () => {
  const check = { ...success, details: { result: { isError: true } } };
  assert.equal(judgeScenario("tools-call-simple-text", [check]).kind, "failed");
  assert.equal(judgeScenario("tools-call-error", [check]).kind, "passed");
  const untestable = { ...success, details: { untestable: true } };
  assert.equal(judgeScenario("server-stateless", [untestable]).kind, "failed");
});
