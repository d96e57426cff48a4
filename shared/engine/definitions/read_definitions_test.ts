import assert from "node:assert/strict";
import { loadYaml } from "../../../scripts/deps.ts";
import type { DefinitionFile } from "./definition.ts";
import { readDefinitions } from "./read_definitions.ts";
import { writeDefinitions } from "./write_definitions.ts";

const { parse, stringify } = await loadYaml();

function filesOf(texts: Readonly<Record<string, string>>): DefinitionFile[] {
  return Object.entries(texts).map(([path, text]) => ({
    path,
    bytes: new TextEncoder().encode(text),
  }));
}

function read(texts: Readonly<Record<string, string>>) {
  return readDefinitions(filesOf(texts), (text) => parse(text));
}

const agent = (front: string, prompt = "You help.") =>
  `---\nname: helper\nprovider: demo\n${front}---\n\n${prompt}\n`;

const WHOLE = agent(`display_name: Helper
description: Helps.
tools: crm/find, crm/list, docs
model: gpt-5.4-mini
maxTurns: 8
max_continuations: 5
skills: [report-writing]
fallbacks: [anthropic, openrouter/openai/gpt-5.4-mini]
handoffs: none
output_schema: { type: object, properties: { answer: { type: string } } }
budget: { max_cost_micro_usd: 5000 }
guardrails: { input: [checks/classify] }
approvals:
  - { tool: crm/delete, ask: always }
  - { tool: crm, ask: when, when: [{ argument: /amount, operator: above, value: 100 }] }
  - { tool: web_search, ask: never }
reasoning_effort: low
`);

Deno.test("readDefinitions() reads an agent with everything that belongs to it", () => {
  const { definitions, problems } = read({ "helper.md": WHOLE });

  assert.deepEqual(problems, []);
  assert.deepEqual(definitions, [{
    kind: "agent",
    slug: "helper",
    definition: {
      display_name: "Helper",
      description: "Helps.",
      prompt: "You help.",
      provider: "demo",
      model: "gpt-5.4-mini",
      max_turns: 8,
      max_continuations: 5,
      reasoning_effort: "low",
      output_schema: { type: "object", properties: { answer: { type: "string" } } },
      budget: { max_cost_micro_usd: 5000 },
      handoffs: "none",
      fallbacks: [
        { provider: "anthropic" },
        { provider: "openrouter", model: "openai/gpt-5.4-mini" },
      ],
      skills: ["report-writing"],
      tools: [{ tool: "crm", allowed_tools: ["find", "list"] }, { tool: "docs" }],
      guardrails: [{ stage: "input", tool: "checks", tool_name: "classify" }],
      approvals: [
        { tool: "crm", tool_name: "delete", ask: "always" },
        {
          tool: "crm",
          tool_name: "*",
          ask: "when",
          conditions: [{ argument: "/amount", operator: "above", value: 100 }],
        },
        { tool_name: "web_search", ask: "never" },
      ],
    },
  }]);
});

for (
  const [what, front, expected] of [
    [
      "an unknown key",
      "maxturns: 3\n",
      /unknown key "maxturns"; did you mean "maxTurns"\? Allowed/,
    ],
    ["a key that others contain", "tool: crm\n", /unknown key "tool"; did you mean "tools"\?/],
    ["an unknown value", "reasoning_effort: lo\n", /reasoning_effort: "lo"; did you mean "low"\?/],
    ["a missing key", "provider:\n", /provider: /],
    ["a key of coding agents", "permissionMode: plan\n", /remove permissionMode.*use approvals/],
    ["an alias of a model", "model: sonnet\n", /alias of coding agents/],
    ["a value of a wrong type", "maxTurns: many\n", /maxTurns: .*number/],
    [
      "an unknown cap",
      "budget: { max_step: 1 }\n",
      /budget: unknown key "max_step"; did you mean "max_steps"/,
    ],
    ["a rule without conditions", "approvals: [{ tool: crm, ask: when }]\n", /needs when/],
    ["text that is not YAML", "tools: [\n", /not YAML/],
  ] as const
) {
  Deno.test(`readDefinitions() names ${what} with the file`, () => {
    const text = agent(front).replace(/provider: demo\n(?=provider:)/, "");

    const { definitions, problems } = read({ "helper.md": text });

    assert.deepEqual(definitions, []);
    assert.equal(problems[0]?.path, "helper.md");
    assert.match(problems[0]?.message ?? "", expected);
  });
}

Deno.test("readDefinitions() reports every problem of every file", () => {
  const { problems } = read({
    "helper.md": agent("maxturns: 3\n"),
    "other.md": agent(""),
    "tools/crm.yaml": "type: http_api\nconfig: { metod: GET, url: 'ftp://x', parameters: {} }\n",
    "tools/web.yaml": "type: http\n",
    "schedule.yaml": "",
    "other.scrpt.yaml": "",
    "webhooks.yaml": "ci: { url: 'https://x.test', events: [task.complete] }\n",
  });

  const lines = problems.map(({ path, message }) => `${path}: ${message}`).join("\n");
  assert.match(lines, /helper\.md: unknown key "maxturns"/);
  assert.match(lines, /other\.md: name: it is "helper", but the file is called other\.md/);
  assert.match(lines, /tools\/crm\.yaml: config\.method: it is required but missing/);
  assert.match(lines, /tools\/crm\.yaml: config: unknown key "metod"; did you mean "method"/);
  assert.match(lines, /tools\/web\.yaml: type: "http"; did you mean "http_api"\?/);
  assert.match(lines, /schedule\.yaml: .*did you mean schedules\.yaml/);
  assert.match(lines, /other\.scrpt\.yaml: .*did you mean other\.script\.yaml\?/);
  assert.match(
    lines,
    /webhooks\.yaml: ci\.events\.0: "task\.complete"; did you mean "task\.completed"/,
  );
});

Deno.test("writeDefinitions() writes files that are read as the same definitions", () => {
  const { definitions, problems } = read({
    "helper.md": WHOLE,
    "tools/crm.yaml": `type: http_api
description: Finds customers.
config:
  method: GET
  url: https://crm.example.com/{id}
  parameters: { type: object, properties: { id: { type: string } } }
credential: { secret: CRM_KEY, type: bearer_token }
enabled: false
`,
    "tools/tally.yaml": "type: database_function\nconfig: { function: public.tally }\n",
    "skills/report-writing/SKILL.md":
      "---\nname: report-writing\ndescription: Reports.\nlicense: MIT\n---\n\nWrite.\n",
    "skills/report-writing/outline.md": "# Outline\n",
    "schedules.yaml": "daily: { agent: helper, input: Go, cron: '@daily', enabled: false }\n",
    "webhooks.yaml": "ci: { url: 'https://x.test/a', events: [task.completed] }\n",
    "alerts.yaml": "failing: { measure: failure_rate, above: 0.2, enabled: false }\n",
    "triggers.yaml": "paid: { table: orders, events: [update], columns: [status], agent: helper," +
      " conditions: [{ column: status, op: eq, value: paid }], input: { order: id }, enabled: false }\n",
  });

  const again = readDefinitions(
    writeDefinitions(definitions, (value) => stringify(value)),
    (text) => parse(text),
  );

  assert.deepEqual(problems, []);
  assert.deepEqual(again.problems, []);
  const sorted = (all: typeof definitions) => [...all].sort((a, b) => a.slug < b.slug ? -1 : 1);
  assert.deepEqual(sorted(again.definitions), sorted(definitions));
});

Deno.test("an agent of a coding agent with the keys that mean the same is read", () => {
  const text = `---
name: helper
description: Reviews code
tools: docs, mcp__crm__find
model: inherit
maxTurns: 5
provider: demo
---
You review.`;

  const { definitions: [found], problems } = read({ "helper.md": text });

  assert.deepEqual(problems, []);
  assert.deepEqual(found?.definition.tools, [
    { tool: "docs" },
    { tool: "crm", allowed_tools: ["find"] },
  ]);
  assert.equal(found?.definition.model, undefined);
});

Deno.test("a schema by which nothing can be checked is refused where it is wrong", () => {
  const { problems } = read({
    "helper.md": agent(
      "input_schema: { properties: { day: { $ref: '#/$defs/day' }, code: { pattern: '[' } } }\n" +
        "output_schema: { type: objekt }\n",
    ),
    "tools/crm.yaml": "type: http_api\nconfig:\n  method: GET\n  url: https://crm.example.com\n" +
      "  parameters: { properties: { id: { multipleOf: 0 } } }\n",
  });

  assert.deepEqual(problems.map(({ path, at }) => [path, at?.join(".")]), [
    ["helper.md", "input_schema.properties.code.pattern"],
    ["helper.md", "output_schema.type"],
    ["tools/crm.yaml", "config.parameters.properties.id.multipleOf"],
  ]);
  assert.match(problems[0]?.message ?? "", /^input_schema\.properties\.code\.pattern: "\[" /);
});

Deno.test("a schedule with an input that its agent does not take is refused", () => {
  const schedule = (day: string) =>
    `nightly: { agent: helper, cron: "@daily", input: { day: "${day}" } }\n`;
  const files = (day: string) => ({
    "helper.md": agent("input_schema: { properties: { day: { format: date } } }\n"),
    "schedules.yaml": schedule(day),
  });

  assert.deepEqual(read(files("2026-12-24")).problems, []);
  const [problem] = read(files("tomorrow")).problems;
  assert.deepEqual(problem?.at, ["nightly", "input"]);
  assert.match(problem?.message ?? "", /helper does not take its input: input\.day: .*date/);
});

Deno.test("a description that is not YAML is read as text, with a warning at its line", () => {
  const { definitions, problems, warnings } = read({
    "helper.md": agent("description: Use after changes. Looks for: bugs, leaks\n"),
  });

  assert.deepEqual(problems, []);
  assert.equal(definitions[0]?.definition.description, "Use after changes. Looks for: bugs, leaks");
  assert.deepEqual(warnings.map(({ path, line }) => ({ path, line })), [
    { path: "helper.md", line: agent("").split("\n").indexOf("---", 1) + 1 },
  ]);
  assert.match(warnings[0]?.message ?? "", /^description: it is not YAML: .*; read as text; write/);
});

Deno.test("only a text of an agent may appear twice, and its front matter needs an end", () => {
  const described = "description: Helps\n";
  const repeated = read({ "helper.md": agent(`${described}description: Serves\n`) });
  const granted = read({ "helper.md": agent(`${described}tools: crm\ntools: docs\n`) });
  const unclosed = read({
    "helper.md": `---\nname: helper\nprovider: demo\n${described}\nYou help.\n`,
  });

  assert.deepEqual(repeated.problems, []);
  assert.equal(repeated.definitions[0]?.definition.description, "Helps");
  assert.match(
    repeated.warnings[0]?.message ?? "",
    /description: the key appears twice; the first/,
  );
  assert.deepEqual(granted.problems, [
    { path: "helper.md", line: 6, message: "tools: the key appears twice" },
  ]);
  assert.deepEqual(unclosed.problems, [
    { path: "helper.md", line: 1, message: "the front matter has no end, a line ---" },
  ]);
});
