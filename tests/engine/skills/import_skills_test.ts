import assert from "node:assert/strict";
import { loadYaml } from "../../../scripts/deps.ts";
import { importSkills } from "../../../scripts/skills/import_skills.ts";
import { Swarm } from "../worker/swarm_fixture.ts";

const { parse } = await loadYaml();

Deno.test("skills are imported into the registry", async (t) => {
  const swarm = await Swarm.open();
  const imports = (files: Readonly<Record<string, string>>) =>
    importSkills(
      swarm.sql,
      Object.entries(files).map(([path, text]) => ({
        path,
        bytes: new TextEncoder().encode(text),
      })),
      (text) => parse(text),
    );
  const skill = (body: string) => `---\nname: tides\ndescription: Reads tide tables\n---\n${body}`;

  try {
    await t.step("a new skill is created, a repeated import changes nothing", async () => {
      const files = { "SKILL.md": skill("Look."), "b.md": "2", "a.md": "1" };

      const first = await imports(files);
      const second = await imports(files);

      assert.equal(first[0]?.change, "created");
      assert.equal(second[0]?.change, "unchanged");
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
      const [updated] = await imports({ "SKILL.md": skill("Look twice."), "a.md": "1" });

      assert.equal(updated?.change, "updated");
      assert.deepEqual([...updated?.changedFields ?? []].sort(), ["instructions", "resources"]);
    });

    await t.step("one invalid skill keeps out all others", async () => {
      const files = {
        "good/SKILL.md": "---\nname: good\ndescription: d\n---\n",
        "bad/SKILL.md": "---\nname: bad\n---\n",
      };

      await assert.rejects(imports(files), { code: "SKILL_INVALID" });

      const rows = await swarm.sql`select from public.skills where skill_id = 'good'`;
      assert.equal(rows.length, 0);
    });
  } finally {
    await swarm.close();
  }
});
