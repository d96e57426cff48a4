import assert from "node:assert/strict";
import { CHUNKER_VERSION } from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import { openSharedSync } from "./shared_sync.ts";
import { filesOf, type SyncFixture, type TestProject } from "./sync_fixture.ts";

function guide(title: string, ...sections: string[]): string {
  const body = sections.map((name) =>
    `## ${name}\n\n${`How to do ${name.toLowerCase()} with care, step by step. `.repeat(12)}\n`
  );
  return [`# ${title}\n\nAll about ${title.toLowerCase()}.\n`, ...body].join("\n");
}

Deno.test("a sync makes the documents equal the branch's head", async (t) => {
  await using fixture = await openSharedSync();
  const project = await fixture.addProject();
  const { github } = fixture;
  const push = async (files: Record<string, string | Uint8Array<ArrayBuffer>>) => {
    const commit = await github.push("main", filesOf(files));
    await fixture.sendPush(project, { commit });
    await fixture.drain();
    return commit;
  };
  const guides = {
    "README.md": guide("Handbook", "Install", "Configure", "Upgrade"),
    "docs/deploy.md": guide("Deploying", "Build", "Release", "Roll back"),
    "docs/año nuevo/été.md": guide("Fêtes", "Réveillon"),
    "src/main.ts": "export {};\n",
  };

  await t.step("a first push indexes the files of the globs, with embedded chunks", async () => {
    const commit = await push(guides);

    assert.deepEqual(await fixture.paths(project), [
      "README.md",
      "docs/año nuevo/été.md",
      "docs/deploy.md",
    ]);
    assert.deepEqual(await fixture.commits(project), { indexed: commit, head: commit });
    assert.equal(await pendingCount(fixture, project), 0);
    assert.deepEqual((await fixture.syncs(project)).map(({ kind, status }) => [kind, status]), [
      ["tree", "completed"],
      ["embed", "completed"],
    ]);
  });

  await t.step("an edit embeds only the changed section", async () => {
    const deploy = guides["docs/deploy.md"].replace("How to do release", "How to never do release");
    await push({ ...guides, "docs/deploy.md": deploy });

    const [tree, embed] = (await fixture.syncs(project)).slice(-2);
    assert.equal(tree?.written_count, 1);
    assert.equal(embed?.embedded_count, 1);
    await push(guides);
  });

  await t.step(
    "a moved folder needs no download and no embedding, and keeps the documents",
    async () => {
      const before = await documentIds(fixture, project);
      const blobs = github.requests.blobs;
      const embedded = await embeddedCount(fixture, project);
      const { "docs/deploy.md": deploy, "docs/año nuevo/été.md": fetes, ...rest } = guides;
      await push({ ...rest, "handbook/ops/deploy.md": deploy, "handbook/ops/fetes.md": fetes });

      assert.deepEqual(await fixture.paths(project), [
        "README.md",
        "handbook/ops/deploy.md",
        "handbook/ops/fetes.md",
      ]);
      assert.equal((await fixture.lastSync(project)).moved_count, 2);
      assert.equal(github.requests.blobs, blobs);
      assert.equal(await embeddedCount(fixture, project), embedded);
      assert.deepEqual(await documentIds(fixture, project), before);
      await push(guides);
    },
  );

  await t.step("a renamed and edited file is a move, and embeds only the edit", async () => {
    const before = await documentIds(fixture, project);
    const { "docs/deploy.md": deploy, ...rest } = guides;
    const edited = deploy.replace("How to do build", "How to redo build");
    await push({ ...rest, "docs/shipping.md": edited });

    const [tree, embed] = (await fixture.syncs(project)).slice(-2);
    assert.equal(tree?.moved_count, 1);
    assert.equal(tree?.deleted_count, 0);
    assert.equal(embed?.embedded_count, 1);
    assert.deepEqual(await documentIds(fixture, project), before);
    const [move] = await fixture.sql`
      select new_path from public.document_moves
      where project_id = ${project.id} and old_path = 'docs/deploy.md' order by id desc limit 1`;
    assert.equal(move?.new_path, "docs/shipping.md");
    await push(guides);
  });

  await t.step("files that swap their places need no embedding", async () => {
    const [a, b, c, d] = ["Alpha", "Beta", "Gamma", "Delta"].map((title) =>
      guide(title, `${title} one`, `${title} two`)
    );
    await push({ "01.md": a ?? "", "02.md": b ?? "", "03.md": c ?? "" });
    const embedded = await embeddedCount(fixture, project);

    await push({ "01.md": b ?? "", "02.md": a ?? "", "03.md": c ?? "" });
    assert.equal(await embeddedCount(fixture, project), embedded, "swapped");

    await push({ "01.md": d ?? "", "02.md": b ?? "", "03.md": a ?? "", "04.md": c ?? "" });
    const added = await embeddedCount(fixture, project) - embedded;
    const [row] = await fixture.sql`
      select count(*)::int as chunks from public.document_embeddings as chunk
      join public.documents as document on document.id = chunk.document_id
      where document.file_path = '01.md'`;
    assert.equal(added, row?.chunks, "shifted by a new one");
    const [spare] = await fixture.sql`
      select count(*)::int as count from private.spare_embeddings`;
    assert.equal(spare?.count, 0);
    await push(guides);
  });

  await t.step("deleted files disappear, and a forced push restores them", async () => {
    const full = await push(guides);
    await push({ "README.md": guides["README.md"] });
    assert.deepEqual(await fixture.paths(project), ["README.md"]);

    github.reset("main", full);
    await fixture.sendPush(project, { commit: full });
    await fixture.drain();

    assert.equal((await fixture.paths(project)).length, 3);
    assert.equal((await fixture.commits(project)).indexed, full);
  });

  await t.step("only a poison file fails, visibly, and is not fetched again", async () => {
    const poison = {
      "bad/latin1.md": new Uint8Array([0x23, 0x20, 0xe9, 0x0a]),
      "bad/binary.md": "# No\0text\n",
      "bad/huge.md": `# Huge\n\n${"x ".repeat(600_000)}`,
      "link-elsewhere.md": "/etc/passwd",
    };
    const commit = await push({ ...guides, ...poison });

    assert.deepEqual(await fixture.refusals(project), {
      "bad/binary.md": "FILE_NOT_TEXT",
      "bad/huge.md": "FILE_TOO_LARGE",
      "bad/latin1.md": "FILE_NOT_TEXT",
    });
    assert.equal((await fixture.paths(project)).length, 3);
    assert.equal((await fixture.commits(project)).indexed, commit);
    const blobs = github.requests.blobs;

    await push({ ...guides, ...poison, "new.md": "# New\n" });
    assert.equal(github.requests.blobs, blobs + 1);

    await push({ ...guides, "bad/latin1.md": "# é\n" });
    assert.deepEqual(await fixture.refusals(project), {});
  });

  await t.step("a document that turns to poison is deleted instead of stale", async () => {
    await push({ ...guides, "README.md": new Uint8Array([0xff, 0xfe, 0x00]) });

    assert.ok(!(await fixture.paths(project)).includes("README.md"));
    assert.deepEqual(await fixture.refusals(project), { "README.md": "FILE_NOT_TEXT" });
  });

  await t.step("a document whose refused duplicate stays is deleted with its file", async () => {
    const twins = { "bad\\name.md": "# Twin\n", "twin.md": "# Twin\n" };
    await push({ ...guides, ...twins });
    assert.deepEqual(await fixture.refusals(project), { "bad\\name.md": "FILE_UNREADABLE" });
    assert.ok((await fixture.paths(project)).includes("twin.md"));

    const { "twin.md": _, ...rest } = twins;
    const commit = await push({ ...guides, ...rest });

    assert.ok(!(await fixture.paths(project)).includes("twin.md"));
    assert.equal((await fixture.commits(project)).indexed, commit);
  });

  await t.step(
    "another version of the splitter splits all documents again, without downloads",
    async () => {
      await push(guides);
      await fixture.sql`update public.documents set chunker_version = chunker_version - 1`;
      const blobs = github.requests.blobs;

      await fixture.sql`select private.request_head_check(${project.id}, '0 seconds')`;
      await fixture.drain();

      assert.equal((await fixture.lastSync(project)).written_count, 3);
      assert.equal(github.requests.blobs, blobs);
      const rows = await fixture.sql`select distinct chunker_version from public.documents`;
      assert.deepEqual(rows.map((row) => row.chunker_version), [CHUNKER_VERSION]);

      await fixture.sql`select private.request_head_check(${project.id}, '0 seconds')`;
      await fixture.drain();
      assert.equal((await fixture.lastSync(project)).commit_sha, null, "nothing is compared");
    },
  );

  await t.step("a truncated tree is walked folder by folder", async () => {
    github.maxTreeEntries = 3;
    const many = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => [`d${index % 4}/e/f${index}.md`, `# F${index}\n`]),
    );
    await push(many);
    github.maxTreeEntries = Infinity;

    assert.deepEqual(await fixture.paths(project), Object.keys(many).sort());
  });
});

async function pendingCount(fixture: SyncFixture, project: TestProject): Promise<number> {
  const [row] = await fixture.sql`
    select count(*)::int as count from public.document_embeddings
    where project_id = ${project.id} and embedding is null`;
  return Number(row?.count);
}

async function embeddedCount(fixture: SyncFixture, project: TestProject): Promise<number> {
  return (await fixture.syncs(project)).reduce((sum, sync) => sum + sync.embedded_count, 0);
}

async function documentIds(fixture: SyncFixture, project: TestProject): Promise<string[]> {
  const rows = await fixture.sql`
    select id from public.documents where project_id = ${project.id} order by id`;
  return rows.map(({ id }) => String(id));
}
