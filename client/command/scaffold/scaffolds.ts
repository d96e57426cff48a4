import type { NewFile } from "../project/file_changes.ts";

/** What `new` can add. */
interface Scaffold {
  /** Valid names, and what a name that is not valid must be. */
  readonly pattern: RegExp;
  readonly rule: string;
  /** Files and folders under one of which the project may already have the name. */
  readonly places: (name: string) => readonly string[];
  readonly files: (name: string) => readonly NewFile[];
  /** What to do next, each a command or an action with what it does. */
  readonly next: (name: string) => readonly (readonly [does: string, why: string])[];
}

/** The pattern of slugs in the files of agents. */
const SLUG = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const SLUG_RULE = "1 to 63 lowercase letters, digits, - and _, and begins with a letter or digit";
/** Servers of the platform, whose slugs no tool of a project can have. */
const PLATFORM_SERVERS = ["artifacts", "catalog", "files", "quoth", "supabase", "swarm"];

/** The scaffolds by the word after `new`. */
export const SCAFFOLDS: Readonly<Record<string, Scaffold>> = {
  agent: {
    pattern: SLUG,
    rule: SLUG_RULE,
    places: (name) => [`agents/${name}.md`, `agents/${name}`],
    files: (name) => [
      { path: `agents/${name}.md`, text: agent(name) },
      { path: `agents/${name}.script.yaml`, text: SCRIPT },
      { path: `agents/${name}.evals.yaml`, text: evals(name) },
    ],
    next: (name) => [
      [`npx supaswarm push ${name}`, "writes it into the database"],
      [`npx supaswarm eval ${name}`, "runs it"],
    ],
  },
  tool: {
    pattern: new RegExp(`^(?!(${PLATFORM_SERVERS.join("|")})$)${SLUG.source.slice(1)}`),
    rule: `${SLUG_RULE}; and is none of ${PLATFORM_SERVERS.join(", ")}`,
    places: (name) => [`agents/tools/${name}.yaml`, `agents/tools/${name}.yml`],
    files: (name) => [{ path: `agents/tools/${name}.yaml`, text: TOOL }],
    next: (name) => [
      [`agents/tools/${name}.yaml`, "write the address and the parameters of your API"],
      [`tools: ${name}`, "in the file of each agent that may call it"],
      [`npx supaswarm push`, "writes both into the database"],
    ],
  },
  skill: {
    pattern: /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/,
    rule:
      "1 to 64 lowercase letters, digits and single -, and begins and ends with a letter or digit",
    places: (name) => [`agents/skills/${name}`],
    files: (name) => [{ path: `agents/skills/${name}/SKILL.md`, text: skill(name) }],
    next: (name) => [
      [`skills: ${name}`, "in the file of each agent that should have it"],
      [`npx supaswarm push`, "writes both into the database"],
    ],
  },
};

function agent(name: string): string {
  return `---
name: ${name}
description: Answers a question in one short paragraph. Other agents choose it by this text.
provider: openai
---

Answer the question in the input in one short paragraph. If you cannot answer it, say what you would
have to know.
`;
}

const SCRIPT =
  `# Answers for the agent while its provider has no key. The first rule that applies answers.
- say: "This is the answer of a script to: {{message}}"
`;

function evals(name: string): string {
  return `# Tests of the agent: npx supaswarm eval ${name}
tests:
  - description: answers the question
    vars: Which weekday comes after Monday?
    assert:
      - { type: javascript, value: output.length > 0 }
`;
}

const TOOL = `type: http_api # or database_function, edge_function
description: Finds an item by its number. The model chooses the tool by this text.
audience: everyone # who may run jobs. Without it: users with a grant of the scope mcp:<name>
config:
  method: GET
  url: https://api.example.com/items/{id}
  parameters:
    type: object
    properties: { id: { type: string, description: Number of the item. } }
    required: [id]
    additionalProperties: false
`;

function skill(name: string): string {
  return `---
name: ${name}
description: How to answer a letter of a customer. Use it before the first sentence of an answer.
---

1. Read the whole letter and list what it asks.
2. Answer each question in its own paragraph.
`;
}
