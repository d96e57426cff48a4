import assert from "node:assert/strict";
import { loadYaml } from "../../../scripts/deps.ts";
import { yamlParser } from "../../../scripts/yaml/parse_yaml.ts";
import { importSkills } from "../../../scripts/skills/import_skills.ts";
import { Swarm } from "../worker/swarm_fixture.ts";

const parseYaml = yamlParser(await loadYaml());

Deno.test("skills are imported into the registry", async (t) => {
  const swarm = await Swarm.open();
  const imports = (files: Readonly<Record<string, string>>) =>
    importSkills(
      swarm.sql,
      Object.entries(files).map(([path, text]) => ({
        path,
        bytes: new TextEncoder().encode(text),
      })),
      parseYaml,
    );
  const skill = (body: string) => `---\nname: tides\ndescription: Reads tide tables\n---\n${body}`;

  try {
    await t.step("a new skill is created, a repeated import changes nothing", async () => {
      const files = { "SKILL.md": skill("Look."), "b.md": "2", "a.md": "1" };

      const first = await imports(files);
      const second = await imports(files);

      assert.equal(first.skills[0]?.change, "created");
      assert.equal(second.skills[0]?.change, "unchanged");
      const [row] = await swarm.sql`
        select name, description, version, instructions, resources
        from public.skills where skill_id = 'tides'`;
      assert.deepEqual({ ...row }, {
        name: "tides",
        description: "Reads tide tables",
        version: "1.0.0",
        instructions: "Look.",
        resources: { "a.md": "1", "b.md": "2" },
      });
    });

    await t.step("a changed skill is updated, and the changed fields are named", async () => {
      const { skills: [updated] } = await imports({
        "SKILL.md": skill("Look twice."),
        "a.md": "1",
      });

      assert.equal(updated?.change, "updated");
      assert.deepEqual([...updated?.changedFields ?? []].sort(), ["instructions", "resources"]);
    });

    await t.step(
      "one invalid skill is named with its place, and does not stop the others",
      async () => {
        const { skills, refused, warnings } = await imports({
          "good/SKILL.md": "---\nname: good\ndescription: d\n---\n",
          "deep/bad/SKILL.md": "---\nname: bad\ndescription:\n---\n",
          "twice/SKILL.md": "---\nname: Good\ndescription: d\n---\n",
          "plain/SKILL.md": "---\nname: plain\ndescription: Make pages: ready\n---\n",
        });

        assert.deepEqual(skills.map(({ skillId }) => skillId), ["good", "plain"]);
        assert.deepEqual(refused.map(({ path, line, message }) => ({ path, line, message })), [{
          path: "deep/bad/SKILL.md",
          line: 3,
          message: "its front matter is invalid: description: it is required but missing",
        }]);
        assert.deepEqual(warnings.map(({ path, line }) => `${path}:${line}`), [
          "plain/SKILL.md:3",
          "twice/SKILL.md:1",
        ]);
        const [row] = await swarm.sql`
        select description from public.skills where skill_id = 'plain'`;
        assert.equal(row?.description, "Make pages: ready");
      },
    );
  } finally {
    await swarm.close();
  }
});
