import assert from "node:assert/strict";
import { readDefinitions } from "../../../shared/engine/definitions/read_definitions.ts";
import { loadYaml } from "../../deps.ts";
import { yamlParser } from "../../yaml/parse_yaml.ts";
import { INTERNAL_SERVERS } from "../../../shared/app/internal_servers.ts";
import { PLATFORM_SERVERS } from "./import_agent_files.ts";
import type { SubagentSettings } from "./convert_subagent.ts";
import { importAgents } from "./import_agents.ts";

const yaml = await loadYaml();
const parseYaml = yamlParser(yaml);
const SETTINGS: SubagentSettings = {
  provider: "anthropic",
  models: {},
  tools: {},
  servers: new Set(["quoth", "crm"]),
  skills: new Set(["letters"]),
};

function imported(
  files: Readonly<Record<string, string>>,
  settings: Partial<SubagentSettings> = {},
) {
  const sources = Object.entries(files).map(([path, text]) => ({
    path,
    bytes: new TextEncoder().encode(text),
  }));
  const plan = importAgents(sources, { ...SETTINGS, ...settings }, {
    parseYaml,
    writeYaml: (value) => yaml.stringify(value),
  });
  const written = plan.files.map(({ path, text }) => ({
    path,
    bytes: new TextEncoder().encode(text),
  }));
  const { definitions, problems } = readDefinitions(written, parseYaml);
  assert.deepEqual(problems, [], "a push would refuse the files");
  return { ...plan, definitions };
}

const file = (front: string, body = "You review.") => `---\n${front}\n---\n\n${body}\n`;

Deno.test("a subagent gets the provider, a current model, and the tools that the project has", () => {
  const { files, definitions } = imported({
    "agents/review.md": file(
      "name: Code Reviewer\ndescription: Use after changes. Looks for: bugs\ncolor: blue\n" +
        "tools: Read, Bash(git diff:*, git log:*), WebSearch, TodoWrite, mcp__crm__find, mcp__web\n" +
        "model: opus\nmaxTurns: 9\nskills: [letters, tides]",
    ),
  });

  assert.deepEqual(definitions, [{
    kind: "agent",
    slug: "code-reviewer",
    definition: {
      display_name: "Code Reviewer",
      description: "Use after changes. Looks for: bugs",
      prompt: "You review.",
      provider: "anthropic",
      model: "claude-sonnet-5-5",
      max_turns: 9,
      provider_tools: ["web_search"],
      tools: [{ tool: "crm", allowed_tools: ["find"] }],
      skills: ["letters"],
      handoffs: "none",
    },
  }]);
  assert.deepEqual(files[0]?.leftOut, [
    "Read",
    "Bash(git diff:*, git log:*)",
    "mcp__web",
    "skill tides",
    "color",
  ]);
  assert.match(
    files[0]?.notes.join() ?? "",
    /line 3: description.*model opus became claude-sonnet/,
  );
});

Deno.test("a tool that is denied, or whose name the user maps, is used as they say", () => {
  const { definitions, files } = imported({
    "a.md": file("name: a\ntools: [Read, Grep, crm, Task]\ndisallowedTools: crm"),
  }, { tools: { Read: "quoth/quoth_read_doc" } });

  assert.deepEqual(definitions[0]?.definition.tools, [
    { tool: "quoth", allowed_tools: ["quoth_read_doc"] },
  ]);
  assert.equal(definitions[0]?.definition.handoffs, undefined);
  assert.deepEqual(files[0]?.leftOut, ["Grep", "disallowedTools"]);
});

Deno.test("files of other kinds are ignored, repeated ones too, and equal names get numbers", () => {
  const { files, ignored, refused } = imported({
    "README.md": "# Agents",
    "commands/run.md": file("description: Runs"),
    "docs/page.md": file("title: A page"),
    "skills/tides/SKILL.md": file("name: tides\ndescription: Reads"),
    "one/helper.md": file("name: helper", "One"),
    "two/helper.md": file("name: helper", "Two"),
    "three/helper.md": file("name: helper", "Two"),
    "empty.md": file("name: empty", ""),
  });

  assert.deepEqual(files.map(({ path }) => path), ["helper.md", "helper-2.md"]);
  assert.deepEqual(ignored.length, 5);
  assert.match(`${refused[0]?.at} ${refused[0]?.problem}`, /^empty\.md the text after .* is empty/);
});

Deno.test("examples in a description, a forgotten end and an indented file are read", () => {
  const { definitions } = imported({
    "examples.md": file(
      'name: examples\ndescription: Use it for: UI.\\n<example>\nContext: none\nuser: "Hi"\n' +
        "assistant: I use it\n</example>\nowner: me\nmodel: sonnet",
    ),
    "open.md": "---\nname: open\ndescription: Never closed\n\nYou help.\n",
    "pasted.md": "    ---\n    name: pasted\n    ---\n\n    You help.\n",
  });

  const [examples, open, pasted] = definitions.map(({ definition }) => definition);
  assert.match(String(examples?.description), /^Use it for: UI.*\nContext: none\nuser: "Hi"\n/);
  assert.equal(examples?.model, "claude-sonnet-5-5");
  assert.deepEqual([open?.description, open?.prompt], ["Never closed", "You help."]);
  assert.equal(pasted?.prompt, "You help.");
});

Deno.test("the platform's servers are known to an import", () => {
  assert.deepEqual(PLATFORM_SERVERS, Object.keys(INTERNAL_SERVERS));
});
