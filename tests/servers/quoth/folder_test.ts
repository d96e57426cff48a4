import assert from "node:assert/strict";
import { join } from "node:path";
import { runScript } from "../../run_script.ts";
import { openSharedSync } from "./shared_sync.ts";
import { EMBEDDER, REPO, type TestProject } from "./sync_fixture.ts";

Deno.test("quoth:add --folder indexes a folder", async (t) => {
  await using fixture = await openSharedSync();
  const folder = await Deno.makeTempDir({ prefix: "quoth-folder-" });
  const write = async (path: string, content: string | Uint8Array<ArrayBuffer>) => {
    await Deno.mkdir(join(folder, path, ".."), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(join(folder, path), content);
    else await Deno.writeFile(join(folder, path), content);
  };
  const addWith = (...args: string[]) =>
    runScript("scripts/quoth_add.ts", ["--db", fixture.url, "--slug", "handbook", ...args]);
  const add = async () => {
    const { code, stdout, stderr } = await addWith(
      ...["--folder", folder, "--embedder", EMBEDDER, "--json"],
    );
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  let project: TestProject = { id: "", slug: "handbook", secret: "" };

  try {
    await t.step("it indexes the documents of a folder without a repository", async () => {
      await write("index.md", "# Handbook\n\nStart here.\n");
      await write("guides/install.md", "# Install\n\nRun the installer.\n");
      await write("guides/notes.txt", "not a document");
      await write("node_modules/other/readme.md", "# Not ours");

      const added = await add();
      project = { ...project, id: added.project_id };
      await fixture.drain();

      assert.equal(added.github_repo, null);
      assert.equal(added.webhook_secret, null);
      assert.equal(added.written_count, 2);
      assert.deepEqual(await fixture.paths(project), ["guides/install.md", "index.md"]);
      assert.equal((await fixture.lastSync(project)).status, "completed");
      const [row] = await fixture.sql`
        select indexed_at is not null as is_indexed,
          head_commit is distinct from indexed_commit as is_behind from public.projects`;
      assert.deepEqual({ ...row }, { is_indexed: true, is_behind: false });
    });

    await t.step("a second run sends only changes and deletes missing files", async () => {
      const unchanged = await add();
      await write("guides/install.md", "# Install\n\nRun the new installer.\n");
      await write("faq.md", "# Questions\n\nNone yet.\n");
      await Deno.remove(join(folder, "index.md"));

      const changed = await add();
      await fixture.drain();

      assert.equal(unchanged.sync_id, null);
      assert.equal(unchanged.unchanged_count, 2);
      assert.deepEqual(
        [changed.written_count, changed.deleted_count, changed.unchanged_count],
        [2, 1, 0],
      );
      assert.deepEqual(await fixture.paths(project), ["faq.md", "guides/install.md"]);
      const [row] = await fixture.sql`
        select content from public.documents where file_path = 'guides/install.md'`;
      assert.match(String(row?.content), /new installer/);
    });

    await t.step("a run before the last one was applied is compared with that one", async () => {
      await write("late.md", "# Late\n");
      const first = await add();
      const again = await add();
      await Deno.remove(join(folder, "late.md"));
      const last = await add();
      await fixture.drain();

      assert.equal(first.written_count, 1);
      assert.equal(again.sync_id, null, "queued files are not queued again");
      assert.equal(last.deleted_count, 1);
      assert.deepEqual(await fixture.paths(project), ["faq.md", "guides/install.md"]);
    });

    await t.step("a binary or oversized file is named, and the rest is indexed", async () => {
      await write("binary.md", new Uint8Array([0xff, 0xfe, 0x00]));
      await write("huge.md", "x".repeat(1_048_577));

      const { stdout } = await addWith("--folder", folder);

      assert.match(stdout, /^Kept\s+handbook: folder \/.*quoth-folder-/m);
      assert.match(stdout, /^Files\s+0 to index, 0 to delete, 2 unchanged$/m);
      assert.match(stdout, /^Skipped\s+binary\.md: .*not UTF-8$/m);
      assert.match(stdout, /^Skipped\s+huge\.md: it has more than 1048576 bytes$/m);
    });

    await t.step("a project with a repository does not become a folder", async () => {
      await fixture.addProject("wiki");

      const { code, stderr } = await runScript(
        "scripts/quoth_add.ts",
        ["--db", fixture.url, "--slug", "wiki", "--folder", folder],
      );

      assert.equal(code, 1);
      assert.match(
        stderr,
        new RegExp(`follows the repository ${REPO}.*\\[PROJECT_SOURCE_MISMATCH\\]`),
      );
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
