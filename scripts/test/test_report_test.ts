import assert from "node:assert/strict";
import { isOwnFailure, readTestReport } from "./test_report.ts";

const REPORT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="4" failures="2" errors="0" time="1.4">
  <testsuite name="./tests/a_test.ts" tests="4" disabled="1" errors="0" failures="2">
    <testcase name="a &gt; b" classname="./tests/a_test.ts" time="0.010" line="1" col="6">
      <failure message="1 test step failed">1 test step failed.</failure>
    </testcase>
    <testcase name="later" classname="./tests/a_test.ts" time="0.000" line="3" col="6">
      <skipped/>
    </testcase>
    <testcase name="a &gt; b &gt; step" classname="./tests/a_test.ts" time="1.500" line="1" col="9">
      <failure message="Uncaught">Error: boom &lt;x&gt;
    at here</failure>
    </testcase>
    <testcase name="fine" classname="./tests/a_test.ts" time="0.001" line="1" col="6">
    </testcase>
  </testsuite>
</testsuites>`;

Deno.test("readTestReport() reads passed and failed tests, and omits skipped ones", async () => {
  const file = "tests/a_test.ts";

  assert.deepEqual(await readTestReport(REPORT), [
    { file, name: "a > b", durationMs: 10, failure: "1 test step failed." },
    { file, name: "a > b > step", durationMs: 1_500, failure: "Error: boom <x>\n    at here" },
    { file, name: "fine", durationMs: 1, failure: null },
  ]);
});

Deno.test("readTestReport() finds nothing in a report that was never written", async () => {
  assert.deepEqual(await readTestReport(""), []);
});

Deno.test("isOwnFailure() distinguishes a failed step from the test that contains it", async () => {
  const cases = await readTestReport(REPORT);

  assert.deepEqual(cases.filter(isOwnFailure).map(({ name }) => name), ["a > b > step"]);
});
