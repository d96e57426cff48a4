import assert from "node:assert/strict";
import { runScript } from "../../run_script.ts";
import { openSharedSync } from "./shared_sync.ts";
import { filesOf } from "./sync_fixture.ts";

Deno.test("quoth:remove removes a project", async (t) => {
  await using fixture = await openSharedSync();
  const remove = (...args: string[]) =>
    runScript("scripts/quoth_remove.ts", ["--db", fixture.url, ...args]);
  const project = await fixture.addProject("handbook");
  const other = await fixture.addProject("wiki");
  const commit = await fixture.github.push("main", filesOf({ "a.md": "# A\n\nText.\n" }));
  for (const one of [project, other]) await fixture.sendPush(one, { commit });
  await fixture.drain();
  await fixture.sql`
    select private.set_github_token(${project.id}::uuid, 'ghp_removed'),
      private.set_github_token(${other.id}::uuid, 'ghp_kept')`;

  await t.step("requires --yes without a terminal, and removes nothing otherwise", async () => {
    const { code, stderr } = await remove("handbook");

    assert.equal(code, 1);
    assert.match(stderr, /Cannot remove handbook: pass --yes/);
    assert.deepEqual(await fixture.paths(project), ["a.md"]);
  });

  await t.step("names an unknown project", async () => {
    const { code, stderr } = await remove("handbok", "--yes");

    assert.equal(code, 1);
    assert.match(stderr, /handbok.*\[PROJECT_NOT_FOUND\]/);
  });

  await t.step("requires one project", async () => {
    for (const args of [["--yes"], ["handbook", "wiki", "--yes"]]) {
      const { code, stderr } = await remove(...args);

      assert.equal(code, 1);
      assert.match(stderr, /pass one project/);
    }
  });

  await t.step("removes all rows and secrets of the project, and no other's", async () => {
    const { code, stdout, stderr } = await remove("handbook", "--yes");

    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Removed handbook: 1 documents, 1 chunks, 0 members$/m);
    assert.deepEqual(await tablesWith(project.id), []);
    assert.notDeepEqual(await tablesWith(other.id), []);
    assert.deepEqual(await fixture.paths(other), ["a.md"]);
    const secrets = await fixture.sql`
      select name from vault.secrets where name like 'supaswarm/project/%' order by name`;
    assert.deepEqual(
      secrets.map(({ name }) => name),
      [
        `supaswarm/project/${other.id}/github_token`,
        `supaswarm/project/${other.id}/webhook_secret`,
      ],
    );
  });

  /** Every table with a column `project_id` that has a row of the project. */
  async function tablesWith(projectId: string): Promise<string[]> {
    const columns = await fixture.sql`
      select format('%I.%I', table_schema, table_name) as name
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where column_name = 'project_id' and data_type = 'uuid' and table_type = 'BASE TABLE'
        and table_schema in ('public', 'private')
      order by 1`;
    assert.ok(columns.length >= 8, "the tables of projects are found");
    const found: string[] = [];
    for (const { name } of columns) {
      const [row] = await fixture.sql.unsafe(
        `select count(*)::int as count from ${name} where project_id = '${projectId}'`,
      );
      if (row?.count > 0) found.push(String(name));
    }
    return found;
  }
});
