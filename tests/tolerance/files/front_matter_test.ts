import assert from "node:assert/strict";
import { importAgents } from "../../../scripts/import/agents/import_agents.ts";
import { loadYaml } from "../../../scripts/deps.ts";
import { yamlParser } from "../../../scripts/yaml/parse_yaml.ts";
import { parseFrontMatter } from "../../../shared/engine/skills/parse_front_matter.ts";
import { parseSkill, type SkillWarning } from "../../../shared/engine/skills/parse_skill.ts";

const yaml = await loadYaml();
const parseYaml = yamlParser(yaml);

/** A value as people write it, and what it is read as; undefined: what YAML says. */
const VALUES: readonly (readonly [written: string, text?: string])[] = [
  [" Make pages ready: errors, empty states", "Make pages ready: errors, empty states"],
  [" a: b: c", "a: b: c"],
  [' "quoted" and more', '"quoted" and more'],
  [" 'it's mine'", "it's mine"],
  [' "never closed', '"never closed'],
  [" [one] [two]", "[one] [two]"],
  [" {a", "{a"],
  [" @team", "@team"],
  [" %percent", "%percent"],
  [" `code`", "`code`"],
  [" *star*", "*star*"],
  [" !mark this", "!mark this"],
  [" - one: - two", "- one: - two"],
  [" first\nand a second line", "first\nand a second line"],
  [" |\nnot indented text", "not indented text"],
  ["\tafter a tab"],
  [" >-\n  folded: text"],
  [" null"],
  [""],
  [" 7"],
  [" true"],
  [" [a, b]"],
  [" { a: { b: [null] } }"],
  ["\n  - a\n  - b: c"],
  ["\n\ta: 1\n\tb: 2"],
  [` ${"x".repeat(20_000)}`],
  [` "${"\\u00e9".repeat(2_000)}"`],
];
const NEWLINES = { LF: "\n", CRLF: "\r\n", CR: "\r" };
const STARTS = { "no mark": "", "a byte order mark": "\uFEFF", "empty lines": "\n\n" };
const KEYS = ["description", "license", "model", "x-own"];

/** A file of which one field is written in that way, between others. */
function fileWith(key: string, written: string): string {
  return `---\nname: kept\n${key}:${written}\nversion: 3\n---\n\n# Body\n\na: b\n`;
}

Deno.test("a field that is not YAML is a text, and costs no field beside it", () => {
  for (const [written, text] of VALUES) {
    for (const key of KEYS) {
      for (const [newline, end] of Object.entries(NEWLINES)) {
        for (const [start, mark] of Object.entries(STARTS)) {
          const file = (mark + fileWith(key, written)).replaceAll("\n", end);

          const { fields, body, notes } = parseFrontMatter(file, "SKILL.md", parseYaml);

          const where = `${key}:${written.slice(0, 40)} with ${newline} and ${start}`;
          assert.equal(fields.name, "kept", where);
          assert.equal(fields.version, 3, where);
          assert.match(body, /^# Body\s+a: b$/, where);
          assert.equal(Object.keys(fields).length, 3, where);
          if (text !== undefined) {
            assert.equal(fields[key], text, where);
            assert.deepEqual(notes.map((note) => note.key), [key], where);
            assert.equal(file.split(end)[(notes[0]?.line ?? 0) - 1]?.split(":")[0], key, where);
          } else assert.ok(Object.hasOwn(fields, key), where);
        }
      }
    }
  }
});

Deno.test("a field that appears twice has its first value, and is named", () => {
  const file = "---\nname: kept\ntools: Read\nmetadata:\n  a: 1\ntools: Bash\n---\nDo it.";

  const { fields, notes } = parseFrontMatter(file, "a.md", parseYaml);

  assert.deepEqual(fields, { name: "kept", tools: "Read", metadata: { a: 1 } });
  assert.deepEqual(notes.map(({ line, problem }) => [line, problem]), [[
    6,
    "tools: the key appears twice",
  ]]);
});

Deno.test("every key of front matter that is not YAML as a whole is read", () => {
  const file = "---\nname: kept\ndescription: Helps\nuser: hello\nown key: 1\n404: gone\n" +
    "model: a: b\n1x: 2\nuser: again\n---\nDo it.";

  const { fields, notes } = parseFrontMatter(file, "a.md", parseYaml);

  assert.deepEqual(fields, {
    name: "kept",
    description: "Helps",
    user: "hello",
    "own key": 1,
    404: "gone",
    model: "a: b\n1x: 2\nuser: again",
  });
  assert.deepEqual(notes.map(({ key }) => key), ["model"]);
});

Deno.test("of a skill, only a description that is missing or no text costs the skill", () => {
  for (const [written, text] of VALUES) {
    for (const key of ["description", "license", "version", "metadata"]) {
      const own = key === "description" ? "" : "description: Kept\n";
      const source = `---\nname: kept\n${own}${key}:${written}\n---\nDo it.`;
      const warnings: SkillWarning[] = [];
      const read = () =>
        parseSkill([{ path: "SKILL.md", bytes: new TextEncoder().encode(source) }], parseYaml, {
          path: "skills/kept",
          warn: (warning) => warnings.push(warning),
        });

      const where = `${key}:${written.slice(0, 40)}`;
      const isLost = key === "description" && /^( null|| \[a.*| \{ a.*|\n[^]*)$/.test(written);
      if (isLost) {
        assert.throws(read, /Cannot read skills\/kept\/SKILL\.md:3: .*description/, where);
        continue;
      }
      const skill = read();
      assert.equal(skill.instructions, "Do it.", where);
      if (key !== "description") assert.equal(skill.description, "Kept", where);
      else {
        const meant = text ?? String(Object.values(parseYaml(`${key}:${written}`) ?? {})[0]).trim();
        assert.equal(skill.description.slice(0, 99), meant.slice(0, 99), where);
      }
      for (const { path } of warnings) assert.equal(path, "skills/kept/SKILL.md", where);
      if (text !== undefined) assert.equal(warnings.length, 1, where);
    }
  }
});

Deno.test("of a subagent file, no field costs the agent", () => {
  const keys = [
    "description",
    "tools",
    "model",
    "color",
    "skills",
    "maxTurns",
    "provider",
    "budget",
  ];
  for (const [written] of VALUES) {
    for (const key of keys) {
      const file = fileWith(key, written);
      const settings = {
        provider: "anthropic",
        models: {},
        tools: {},
        servers: new Set<string>(),
        skills: new Set<string>(),
      };
      const { files, refused } = importAgents(
        [{ path: "agents/kept.md", bytes: new TextEncoder().encode(file) }],
        settings,
        { parseYaml, writeYaml: (value) => yaml.stringify(value) },
      );

      const where = `${key}:${written.slice(0, 40)}`;
      assert.deepEqual(refused, [], where);
      assert.match(files[0]?.text ?? "", /^---\nname: kept\n/, where);
      assert.match(files[0]?.text ?? "", /\nprovider: anthropic\n[^]*\n---\n\n# Body/, where);
    }
  }
});
