import assert from "node:assert/strict";
import { countTests } from "./run_suite.ts";

Deno.test("countTests() adds up suites and leaves out what was skipped", () => {
  const report = `<testsuites name="deno test" tests="5" failures="1" errors="0">
    <testsuite name="a" tests="3" disabled="1" errors="0" failures="1"></testsuite>
    <testsuite name="b" tests="2" disabled="0" errors="0" failures="0"></testsuite></testsuites>`;

  assert.deepEqual(countTests(report), { passed: 3, failed: 1 });
});

Deno.test("countTests() finds nothing in a report that was never written", () => {
  assert.deepEqual(countTests(""), { passed: 0, failed: 0 });
});
