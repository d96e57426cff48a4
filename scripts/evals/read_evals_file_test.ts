import assert from "node:assert/strict";
import { loadYaml } from "../deps.ts";
import { fileProblems } from "../yaml/file_problems.ts";
import { addTest } from "./add_test.ts";
import { readEvalsFile } from "./read_evals_file.ts";

const yaml = await loadYaml();
const read = (text: string) => readEvalsFile(text, "writer.evals.yaml", yaml);
const problemsOf = (text: string) => fileProblems(() => read(text));

/** A file with one test that has these assertions, the first in its fifth line. */
const asserting = (...lines: string[]) =>
  ["tests:", "  - description: a", "    vars: x", "    assert:", ...lines, ""].join("\n");

Deno.test("readEvalsFile() adds the parts of defaultTest to each test", () => {
  const tests = read(`
repeat: 3
defaultTest:
  vars: { language: en, topic: none }
  assert: [{ type: latency, threshold: 1000 }]
  threshold: 0.5
  options: { provider: judge }
tests:
  - description: own
    vars: { topic: hooks }
    assert: [{ type: llm-rubric, value: short }]
    threshold: 1
    options: { repeat: 5 }
  - description: text
    vars: plain
  - description: inherited
`);

  assert.deepEqual(
    tests.map((
      { input, assertions, ...test },
    ) => [input, assertions.map(({ type }) => type), test]),
    [
      [{ language: "en", topic: "hooks" }, ["latency", "llm-rubric"], {
        name: "own",
        threshold: 1,
        repeatCount: 5,
        judge: "judge",
      }],
      ["plain", ["latency"], { name: "text", threshold: 0.5, repeatCount: 3, judge: "judge" }],
      [{ language: "en", topic: "none" }, ["latency"], {
        name: "inherited",
        threshold: 0.5,
        repeatCount: 3,
        judge: "judge",
      }],
    ],
  );
});

for (
  const [claim, text, problem] of [
    ["a type that does not exist", asserting("      - { type: contans, value: y }"), [
      'writer.evals.yaml:5: tests.0.assert.0.type: "contans"; did you mean "contains"? ',
      "Allowed are contains, ",
    ]],
    ["an unknown key", asserting("      - type: contains", "        valu: y", "        value: y"), [
      'writer.evals.yaml:6: tests.0.assert.0: unknown key "valu"; did you mean "value"?',
    ]],
    ["a missing value", asserting("      - { type: cost }"), [
      "writer.evals.yaml:5: tests.0.assert.0.threshold: it is required but missing",
    ]],
    ["a regular expression that is not one", asserting("      - { type: regex, value: '(' }"), [
      "writer.evals.yaml:5: tests.0.assert.0.value: Invalid regular expression",
    ]],
    ["a judge that is not named", asserting("      - { type: llm-rubric, value: good }"), [
      "writer.evals.yaml:2: tests.0: llm-rubric needs options.provider",
    ]],
    [
      "two tests of one name",
      `${asserting("      - { type: latency, threshold: 1 }")}
  - { description: a, vars: x, assert: [{ type: latency, threshold: 1 }] }`,
      [
        'writer.evals.yaml:7: tests.1: another test has the description "a"',
      ],
    ],
    ["no input and no assertion", "tests: [{ description: a }]", [
      "writer.evals.yaml:1: tests.0: vars are missing",
      "writer.evals.yaml:1: tests.0: assert is missing",
    ]],
    ["no tests", "", ["writer.evals.yaml:1: tests: it is required but missing"]],
    ["an unknown key at the top", "tests: []\ndefaultTests: {}", [
      "writer.evals.yaml:1: tests: has no test",
      'writer.evals.yaml:2: unknown key "defaultTests"; did you mean "defaultTest"?',
    ]],
    ["what is not YAML", "tests: [", ["writer.evals.yaml:1: "]],
  ] as const
) {
  Deno.test(`readEvalsFile() refuses ${claim} with its line`, () => {
    const problems = problemsOf(text);

    for (const part of problem) assert.ok(problems.includes(part), problems);
  });
}

const FILE = `# The tests of the writer.
tests:
  # Checked by Ada.
  - description: first # a remark
    vars: { topic: x }
    assert:
      - { type: contains, value: x }
`;

Deno.test("addTest() adds a test at the end and keeps comments and form", () => {
  const text = addTest(FILE, "writer.evals.yaml", {
    description: "second",
    vars: { topic: "a: b" },
    assert: [{ type: "equals", value: "long\ntext" }],
  }, yaml);

  assert.ok(text.startsWith(FILE), text);
  assert.deepEqual(read(text).map(({ name, input }) => [name, input]), [
    ["first", { topic: "x" }],
    ["second", { topic: "a: b" }],
  ]);
});

Deno.test("addTest() begins a file, and refuses a name that the file has", () => {
  const test = {
    description: "first",
    vars: "x",
    assert: [{ type: "latency" as const, threshold: 1 }],
  };

  assert.deepEqual(read(addTest("", "f", test, yaml)).map(({ name }) => name), ["first"]);
  assert.throws(() => addTest(FILE, "f", test, yaml), /f has a test of this name.*--name/);
});
