import assert from "node:assert/strict";
import { join } from "node:path";
import { installPacked, packCommand } from "./packed_command.ts";
import { createUserProject, type UserProject } from "./user_project.ts";

const supaswarm = (project: UserProject, ...args: string[]) =>
  project.run("npx", "--no-install", "supaswarm", ...args);
const status = async (project: UserProject) =>
  (await project.run("git", "status", "--porcelain")).stdout.trimEnd();
const read = (project: UserProject, path: string) => Deno.readTextFile(join(project.root, path));

const packed = await packCommand();
Deno.test.afterAll(async () => await packed[Symbol.asyncDispose]());

Deno.test("the packed command adds the platform to a project and removes it", async (t) => {
  await using project = await createUserProject();
  await installPacked(project, packed);
  const config = await read(project, "supabase/config.toml");

  await t.step("--dry-run shows the whole plan and writes nothing", async () => {
    const { code, stdout } = await supaswarm(project, "init", "--dry-run");

    assert.equal(code, 0);
    assert.match(stdout, /supabase\/migrations\/\d{14}_supaswarm_0_1_0\.sql/);
    assert.match(stdout, /\+schemas = \["public", "graphql_public", "supaswarm"\]/);
    assert.match(stdout, /has a function mcp, so the platform's is supaswarm-mcp/);
    assert.equal(await status(project), "");
  });
  await t.step("without a terminal it asks for --yes, and changes nothing", async () => {
    const { code, stderr } = await supaswarm(project, "init");

    assert.equal(code, 1);
    assert.match(stderr, /no terminal on which to ask \[NOT_CONFIRMED\]\n.*--yes/);
    assert.equal(await status(project), "");
  });
  await t.step("it refuses uncommitted files in supabase/", async () => {
    await project.write("notes.txt", "unsaved");
    await project.write("supabase/notes.txt", "unsaved");

    const { code, stdout, stderr } = await supaswarm(project, "init", "--yes");

    assert.equal(code, 1);
    assert.match(stderr, /supabase has uncommitted files \(supabase\/notes\.txt\)/);
    assert.equal(stdout, "", "no plan before the refusal");
    await Deno.remove(join(project.root, "supabase/notes.txt"));
    // Files elsewhere do not matter: npm install has changed package.json.
    const elsewhere = await supaswarm(project, "init");
    assert.match(elsewhere.stderr, /no terminal on which to ask/);
    await Deno.remove(join(project.root, "notes.txt"));
  });
  await t.step("--schema public refuses names that the project has", async () => {
    const { code, stderr } = await supaswarm(project, "init", "--yes", "--schema", "public");

    assert.equal(code, 1);
    assert.match(stderr, /already creates private \(.*_shop\.sql\), public\.tasks/);
    assert.equal(await status(project), "");
  });
  await t.step("it writes one migration, functions and a few lines of configuration", async () => {
    const { code, stderr } = await supaswarm(project, "init", "--yes");

    assert.equal(code, 0, stderr);
    const lines = (await status(project)).split("\n");
    assert.deepEqual(
      lines.map((line) => line.replace(/\d{14}/, "<time>")),
      [
        " M supabase/config.toml",
        "?? agents/",
        "?? supabase/functions/_supaswarm/",
        "?? supabase/functions/mcp-execute/",
        "?? supabase/functions/mcp-feedback/",
        "?? supabase/functions/mcp-oauth/",
        "?? supabase/functions/quoth-sync/",
        "?? supabase/functions/supaswarm-chat/",
        "?? supabase/functions/supaswarm-create-task/",
        "?? supabase/functions/supaswarm-export/",
        "?? supabase/functions/supaswarm-mcp/",
        "?? supabase/functions/supaswarm-webhooks/",
        "?? supabase/functions/supaswarm-worker/",
        "?? supabase/migrations/<time>_supaswarm_0_1_0.sql",
      ],
    );
    const edited = await read(project, "supabase/config.toml");
    const kept = config.split("\n").filter((line) => !line.startsWith("schemas"));
    for (const line of kept) assert.ok(edited.split("\n").includes(line), line);
    assert.match(edited, /\[functions\.supaswarm-worker\]\nverify_jwt = false\n/);
    assert.match(edited, /\[functions\.mcp\]\nverify_jwt = true\n/);
  });
  await t.step("a second run changes nothing", async () => {
    await project.commit();

    const { code, stdout } = await supaswarm(project, "init", "--yes");

    assert.equal(code, 0);
    assert.match(stdout, /is installed in schema supaswarm\. Nothing to change\./);
    assert.equal(await status(project), "");
  });
  await t.step("remove refuses to delete a file that was edited", async () => {
    const path = "supabase/functions/mcp-execute/index.ts";
    await project.write(path, `${await read(project, path)}// mine\n`);
    await project.commit();

    const { code, stderr, stdout } = await supaswarm(project, "remove", "--yes");

    assert.equal(code, 1);
    assert.match(stdout, /edited or missing: supabase\/functions\/mcp-execute\/index\.ts/);
    assert.match(stderr, /because you edited or deleted 1 file of SupaSwarm/);
    await project.run("git", "reset", "--quiet", "--hard", "HEAD~1");
  });
  await t.step("remove leaves the folder as it was, also after other edits", async () => {
    const edited = await read(project, "supabase/config.toml");
    await project.write("supabase/config.toml", edited.replace("max_rows = 1000", "max_rows = 50"));
    await project.commit();

    const { code, stdout, stderr } = await supaswarm(project, "remove", "--yes");

    assert.equal(code, 0, stderr);
    assert.match(stdout, /drop schema supaswarm, supaswarm_private/);
    const { stdout: diff } = await project.run("git", "diff", "--stat", "HEAD~2");
    assert.match(diff, /1 file changed, 1 insertion\(\+\), 1 deletion\(-\)/);
    assert.equal(
      await read(project, "supabase/config.toml"),
      config.replace("max_rows = 1000", "max_rows = 50"),
    );
  });
  await t.step("remove --keep-data keeps the migration", async () => {
    await project.run("git", "reset", "--quiet", "--hard");
    const { code, stdout } = await supaswarm(project, "remove", "--yes", "--keep-data");

    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /drop schema/);
    const { stdout: kept } = await project.run("git", "ls-files", "supabase/migrations");
    const { stdout: deleted } = await project.run("git", "ls-files", "--deleted");
    assert.match(kept, /_supaswarm_0_1_0\.sql/);
    assert.doesNotMatch(deleted, /supabase\/migrations/);
    assert.match(deleted, /supabase\/functions\/_supaswarm\/manifest\.json/);
  });
  await t.step("in an empty folder it creates the project, and Deno runs it too", async () => {
    await using empty = await createUserProject({ ".gitignore": "node_modules\n" });
    await installPacked(empty, packed);
    const command = join(empty.root, "node_modules/supaswarm/supaswarm.js");

    const added = await empty.run(Deno.execPath(), "run", "-A", command, "init", "--yes");
    const created = await read(empty, "supabase/config.toml");
    await empty.commit();
    const removed = await empty.run(Deno.execPath(), "run", "-A", command, "remove", "--yes");

    assert.equal(added.code, 0, added.stderr);
    assert.match(created, /^project_id = "supaswarm-user-/m);
    assert.equal(removed.code, 0, removed.stderr);
    assert.equal((await empty.run("git", "diff", "--stat", "HEAD~1")).stdout, "");
    await assert.rejects(Deno.stat(join(empty.root, "supabase")), Deno.errors.NotFound);
  });
});

Deno.test("an upgrade adds the new migrations and replaces the installed files", async (t) => {
  await using project = await createUserProject();
  await installPacked(project, packed);
  await supaswarm(project, "init", "--yes");
  await project.commit();
  const worker = "supabase/functions/_supaswarm/supaswarm-worker.js";

  await t.step("of the same release it changes nothing", async () => {
    const { code, stdout } = await supaswarm(project, "upgrade", "--yes");

    assert.equal(code, 0);
    assert.match(stdout, /SupaSwarm 0\.1\.0 is installed\. Nothing to change\./);
    assert.equal(await status(project), "");
  });

  await releaseNextVersion(project);
  await t.step("--dry-run names what it would change", async () => {
    const { code, stdout } = await supaswarm(project, "upgrade", "--dry-run");

    assert.equal(code, 0);
    assert.match(
      stdout,
      /SupaSwarm 0\.1\.0 → 0\.2\.0\n {2}supabase\/migrations\/\d{14}_supaswarm_0_2_0\.sql/,
    );
    assert.equal(await status(project), "");
  });
  await t.step("it shows the edits that it would lose, and refuses", async () => {
    await project.write(worker, `${await read(project, worker)}// mine\n`);
    await project.commit();

    const { code, stdout, stderr } = await supaswarm(project, "upgrade", "--yes");

    assert.equal(code, 1);
    assert.match(
      stdout,
      /supaswarm-worker\.js was edited\. The upgrade changes it:\n[^]*-\/\/ mine/,
    );
    assert.match(stderr, /because you edited 1 file that the upgrade replaces/);
    await project.run("git", "reset", "--quiet", "--hard", "HEAD~1");
  });
  await t.step(
    "it writes the new migration with the project's names, and no file twice",
    async () => {
      const { code, stderr } = await supaswarm(project, "upgrade", "--yes");

      assert.equal(code, 0, stderr);
      assert.deepEqual(
        (await status(project)).split("\n").map((line) => line.replace(/\d{14}/, "<time>")),
        [
          " M supabase/functions/_supaswarm/manifest.json",
          " M supabase/functions/_supaswarm/supaswarm-worker.js",
          "?? supabase/migrations/<time>_supaswarm_0_2_0.sql",
        ],
      );
      const { migrations } = JSON.parse(
        await read(project, "supabase/functions/_supaswarm/manifest.json"),
      );
      assert.equal(migrations.length, 2);
      assert.equal(
        await read(project, migrations[1]),
        "comment on table supaswarm.tasks is 'New.';\n",
      );
    },
  );
  await t.step("a removal refuses while supaswarm dev uses the data", async () => {
    await project.commit();
    const running = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const url = `http://127.0.0.1:${running.addr.port}`;
    await project.write(".supaswarm/project.env", `SUPABASE_URL=${url}\n`);

    const { code, stderr } = await supaswarm(project, "remove", "--yes");

    assert.equal(code, 1);
    assert.match(stderr, /supaswarm dev runs in this folder[^]*Stop it first/);
    running.close();
    await Deno.remove(join(project.root, ".supaswarm"), { recursive: true });
    assert.equal(await status(project), "");
  });
  await t.step("a removal removes both releases", async () => {
    const { code, stderr } = await supaswarm(project, "remove", "--yes");

    assert.equal(code, 0, stderr);
    assert.equal((await project.run("git", "diff", "--stat", "HEAD~2")).stdout, "");
  });
});

/** Makes the installed package a later release. */
async function releaseNextVersion(project: UserProject): Promise<void> {
  const folder = "node_modules/supaswarm/release";
  const release = JSON.parse(await read(project, `${folder}/release.json`));
  await project.write(`${folder}/release.json`, JSON.stringify({ ...release, version: "0.2.0" }));
  await project.write(
    `${folder}/migrations/0.2.0.sql`,
    "comment on table __supaswarm_public__.tasks is 'New.';\n",
  );
  const worker = `${folder}/functions/supaswarm-worker.js`;
  await project.write(worker, `${await read(project, worker)}// 0.2.0\n`);
}
