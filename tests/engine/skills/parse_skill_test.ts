import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { loadYaml } from "../../../scripts/deps.ts";
import { yamlParser } from "../../../scripts/yaml/parse_yaml.ts";
import { readSkillFiles } from "../../../scripts/skills/read_skill_files.ts";
import { readTarGz } from "../../../scripts/skills/read_tar.ts";
import { readZip } from "../../../scripts/skills/read_zip.ts";
import { findSkills } from "../../../shared/engine/skills/find_skills.ts";
import { parseSkill } from "../../../shared/engine/skills/parse_skill.ts";
import type { ParsedSkill, SkillFile } from "../../../shared/engine/skills/skill.ts";
import { resolvePackagesWithSkills } from "../../deps.ts";
import { tarGzOf, zipOf } from "./skill_archives.ts";

const FIXTURES = fileURLToPath(new URL("../../fixtures/skills", import.meta.url));
const parseYaml = yamlParser(await loadYaml());

const skillsOf = (files: readonly SkillFile[]): ParsedSkill[] =>
  findSkills(files).map((folder) => parseSkill(folder.files, parseYaml));

async function fixture(name: string): Promise<ParsedSkill[]> {
  return skillsOf(await readSkillFiles(`${FIXTURES}/${name}`));
}

function skillFile(text: string): readonly SkillFile[] {
  return [{ path: "SKILL.md", bytes: new TextEncoder().encode(text) }];
}

const MINIMAL = "---\nname: a\ndescription: b\n---\nDo it.";

Deno.test("a skill folder has front matter, instructions and text resources", async () => {
  const [skill] = await fixture("filled-forms");

  assert.equal(skill?.skillId, "filled-forms");
  assert.equal(skill?.version, "2.1");
  assert.match(skill?.instructions ?? "", /^# Filled forms[^]*ends nothing\.$/);
  assert.deepEqual(Object.keys(skill?.resources ?? {}), [
    "reference/defaults.yaml",
    "reference/fields.md",
    "scripts/fill",
    "scripts/fill.py",
  ]);
});

Deno.test("unknown front matter is kept, scripts are not executable, images are omitted", async () => {
  const [skill] = await fixture("filled-forms");

  assert.deepEqual(skill?.metadata, {
    license: "Apache-2.0",
    compatibility: "Needs Python 3.11 to run the scripts",
    "allowed-tools": "Bash(python:*) Read",
    metadata: { author: "Office tools", version: "2.1", tags: ["pdf", "forms"] },
    scripts: [
      { path: "scripts/fill", is_executable: false },
      { path: "scripts/fill.py", is_executable: false },
    ],
    not_imported: [{ path: "assets/logo.png", bytes: 10, reason: "not text" }],
  });
});

Deno.test("a folder of skills returns each of them, without the files of one inside another", async () => {
  const skills = await fixture("collection");

  const byId = new Map(skills.map((skill) => [skill.skillId, skill]));
  assert.deepEqual([...byId.keys()].sort(), ["inner", "meeting-notes-short", "release-notes"]);
  assert.deepEqual(Object.keys(byId.get("release-notes")?.resources ?? {}), ["templates/note.md"]);
  assert.equal(byId.get("release-notes")?.metadata.updated, "2026-05-01");
});

Deno.test("a byte order mark, CRLF, folded text and a numeric version are read", async () => {
  const skill = (await fixture("collection")).find(({ name }) => name.startsWith("Meeting"));

  assert.equal(skill?.description, "Writes minutes: who said what, and what was decided.");
  assert.equal(skill?.version, "3");
  assert.equal(skill?.instructions, "Keep it short.");
});

Deno.test("skills in third-party packages are read", async () => {
  for (const folder of await resolvePackagesWithSkills()) {
    const skills = skillsOf(await readSkillFiles(folder));

    assert.ok(skills.length > 0, folder);
    for (const skill of skills) assert.ok(skill.instructions.length > 100, skill.skillId);
  }
});

Deno.test("an invalid SKILL.md is refused with the reason", () => {
  const refused: [string, RegExp][] = [
    ["# No front matter", /has no front matter/],
    ["---\nname: a\n---\n", /description/],
    ["---\ndescription: b\n---\n", /name/],
    ["---\nName a\n", /SKILL\.md:1: it has no front matter/],
    [`---\nname: a\ndescription: b\nx: ${'"'.repeat(70_000)}\n---\n`, /longer than 65536/],
    ["---\n- a\n---\n", /is invalid/],
    [`---\nname: ${"x".repeat(65)}\ndescription: b\n---\n`, /64/],
    ["---\nname: '!!'\ndescription: b\n---\n", /no letter or digit/],
  ];
  for (const [text, expected] of refused) {
    assert.throws(() => skillsOf(skillFile(text)), { code: "SKILL_INVALID", message: expected });
  }
});

Deno.test("a SKILL.md that is not UTF-8 is refused", () => {
  const bytes = new Uint8Array([...new TextEncoder().encode(MINIMAL), 0xff, 0xfe]);

  assert.throws(() => skillsOf([{ path: "SKILL.md", bytes }]), { message: /not UTF-8/ });
});

Deno.test("a resource above the size limit is named and omitted", () => {
  const [skill] = skillsOf([
    ...skillFile(MINIMAL),
    { path: "big.txt", bytes: new Uint8Array(300_000).fill(97) },
  ]);

  assert.deepEqual(skill?.resources, {});
  assert.match(JSON.stringify(skill?.metadata), /big\.txt.*larger than 262144 bytes/);
});

Deno.test("zip and tar.gz archives contain the same skills as a folder", async () => {
  const longName = `skill/${"deep/".repeat(25)}note.md`;
  const files = {
    "skill/SKILL.md": MINIMAL,
    "skill/tips.md": "Be bold",
    [longName]: "Deep",
    "__MACOSX/skill/._SKILL.md": "junk",
  };

  for (const read of [await readZip(await zipOf(files)), await readTarGz(await tarGzOf(files))]) {
    const [skill, ...others] = skillsOf(read);

    assert.equal(others.length, 0);
    assert.deepEqual(skill?.resources, {
      "tips.md": "Be bold",
      [longName.slice("skill/".length)]: "Deep",
    });
  }
});

Deno.test("a path that leaves an archive is refused", async () => {
  for (
    const path of ["../evil.md", "a/../../evil.md", "/etc/passwd", "C:/evil.md", "a\\..\\evil.md"]
  ) {
    const files = { "SKILL.md": MINIMAL, [path]: "evil" };
    for (const read of [await readZip(await zipOf(files)), await readTarGz(await tarGzOf(files))]) {
      assert.throws(() => skillsOf(read), { code: "SKILL_INVALID", message: /leads out/ }, path);
    }
  }
});

Deno.test("links in a tar archive are skipped", async () => {
  const files = await readTarGz(await tarGzOf({ "SKILL.md": "/etc/passwd" }, "2"));

  assert.throws(() => skillsOf(files), { message: /no folder has/ });
});

Deno.test("a damaged archive is refused, whatever its kind", async () => {
  const zip = (await zipOf({ "SKILL.md": MINIMAL })).slice(0, 40);
  const tar = (await tarGzOf({ "SKILL.md": MINIMAL })).slice(0, 60);

  await assert.rejects(readZip(zip), { code: "SKILL_INVALID" });
  await assert.rejects(readTarGz(tar), { code: "SKILL_INVALID" });
  await assert.rejects(readTarGz(new TextEncoder().encode("nonsense")), { code: "SKILL_INVALID" });
});

Deno.test("an archive that unpacks to far too much is refused before it is unpacked", async () => {
  const megabyte = new Uint8Array(1_048_576);
  const zeros = ReadableStream.from(Array.from({ length: 800 }, () => megabyte));
  const packed = zeros.pipeThrough(new CompressionStream("gzip"));
  const bomb = new Uint8Array(await new Response(packed).arrayBuffer());
  const before = Deno.memoryUsage().rss;

  await assert.rejects(readTarGz(bomb), { code: "SKILL_INVALID", message: /too large/ });

  const megabytes = (Deno.memoryUsage().rss - before) / 1_048_576;
  assert.ok(megabytes < 300, `${megabytes} MB`);
});
