import assert from "node:assert/strict";
import { loadYaml } from "../../deps.ts";
import { fileProblems } from "../../yaml/file_problems.ts";
import { readScript } from "./read_script.ts";

const yaml = await loadYaml();
const problemsOf = (text: string) =>
  fileProblems(() => readScript(text, "hello.script.yaml", yaml));

Deno.test("readScript() accepts every kind of rule", () => {
  const problems = problemsOf(`
- when: { first: true, matches: 'find (?<name>\\w+)' }
  reasoning: I need {{name}}.
  call:
    - tool: crm/find
      arguments: { name: "{{name}}", whole: "{{0}}", topic: "{{ input.topic }}" }
- when: { result_of: crm/find }
  output: { found: "{{message.id}}", none: null }
- say: Name a customer.
`);

  assert.equal(problems, "");
});

const REFUSED: readonly (readonly [claim: string, text: string, expected: RegExp])[] = [
  ["no rule", "", /^hello\.script\.yaml:1: .*at least one rule/],
  ["text that is not YAML", "- say: [", /^hello\.script\.yaml:1: /],
  ["an unknown key", "- say: a\n  sey: b", /yaml:2: 0: unknown key "sey"; did you mean "say"\?/],
  [
    "an unknown condition",
    "- say: a\n  when:\n    result: x",
    /yaml:3: 0\.when: unknown key "result".*Allowed are first, contains, matches, result_of/,
  ],
  ["a condition without conditions", "- when: {}\n  say: a", /yaml:1: when needs a condition/],
  ["a rule that does nothing", "- when: { first: true }", /yaml:1: the rule does nothing/],
  [
    "a rule with two ends",
    "- output: 1\n  call: [{ tool: x }]",
    /yaml:1: the rule has call and output; write a rule for each/,
  ],
  [
    "a pattern that cannot be read",
    "- say: a\n  when:\n    matches: '(a'",
    /yaml:3: is not a regular expression: .*Unterminated group/,
  ],
  [
    "a placeholder without a value",
    "- say: Hello {{nmae}}\n  when: { matches: '(?<name>.*)' }",
    /yaml:1: \{\{nmae\}\} has no value here\. There are input, message, 0, 1, name/,
  ],
  [
    "a capture that hides the input",
    "- say: a\n  when: { matches: '(?<input>.*)' }",
    /yaml:2: give the capture input another name/,
  ],
  [
    "a result before the first answer",
    "- say: a\n  when: { first: true, result_of: x }",
    /yaml:2: never applies: before the first answer/,
  ],
  [
    "a rule after one for everything",
    "- say: a\n- when: { contains: x }\n  say: b",
    /yaml:2: never applies: the rule of line 1 always applies before it/,
  ],
  [
    "a rule after one for a part of its text",
    "- say: a\n  when: { contains: tea }\n- say: b\n  when: { contains: green tea, first: true }",
    /yaml:3: never applies/,
  ],
];

for (const [claim, text, expected] of REFUSED) {
  Deno.test(`readScript() refuses ${claim} and names the line`, () => {
    const problems = problemsOf(text);

    assert.match(problems, expected);
    assert.equal(problems.split("\n").length, 1);
  });
}

Deno.test("readScript() accepts a result with a text that was asked of the user before", () => {
  const problems = problemsOf(
    "- say: a\n  when: { contains: x }\n- say: b\n  when: { contains: x, result_of: find }",
  );

  assert.equal(problems, "");
});
