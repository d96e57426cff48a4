import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { splitMarkdown } from "../../shared/servers/quoth/markdown/split_markdown.ts";
import { filesOf, SyncFixture, type TestProject } from "../servers/quoth/sync_fixture.ts";
import { createHistory } from "../servers/quoth/sync_history.ts";
import { startMigratedServer } from "./native_server.ts";
import { seededRandom } from "../../scripts/seeded_random.ts";
import { assertNoDeadlock, inLanes, printFigures } from "./race_fixture.ts";

const PUSHES = 40;
const SEED = 20_261_122;
const READ_PAUSE_MS = 10;
const SYNCER = new URL("killed_syncer.ts", import.meta.url).pathname;
const MOMENTS = ["before", "during", "after"];

Deno.test("syncs survive the death of their workers at any moment", async (t) => {
  await using server = await startMigratedServer();
  await using fixture = SyncFixture.attach(server.cluster.url);
  const { github, sql } = fixture;
  const projects = [await fixture.addProject("one"), await fixture.addProject("two")];
  const random = seededRandom(SEED);
  const figures = { kills: 0, documents_seen: 0, syncs: 0 };

  await t.step("two concurrent workers, killed repeatedly, leave no partial state", async () => {
    const reader = startReader(fixture);
    await inLanes(2, createHistory(SEED, PUSHES), async ({ tree }) => {
      const commit = await github.push("main", filesOf(Object.fromEntries(tree)));
      for (const project of projects) await fixture.sendPush(project, { commit });
      // Always after the first file: a file whose worker died three times in a row is refused.
      const lastCall = 10 + Math.floor(random() * 40);
      const moment = MOMENTS[Math.floor(random() * MOMENTS.length)] ?? "";
      if (await runSyncer(String(lastCall), moment)) figures.kills++;
    });
    figures.documents_seen = await reader.stop();
    assert.ok(figures.kills >= PUSHES / 2, `only ${figures.kills} workers were killed`);
  });

  await t.step("two surviving workers finish with the result of a clean index", async () => {
    for (const { id } of projects) {
      await sql`select private.request_head_check(${id}, '0 seconds')`;
    }
    while (await hasWork()) {
      await Promise.all([runSyncer(), runSyncer()]);
      await fixture.passTime();
    }

    const clean = await fixture.addProject("clean");
    await sql`select private.request_sync('clean')`;
    await fixture.drain();
    const wanted = await fixture.indexOf(clean);
    assert.ok(wanted.length > 0);
    for (const project of projects) {
      assert.deepEqual(await fixture.indexOf(project), wanted);
      assert.deepEqual(await fixture.commits(project), await fixture.commits(clean));
      assert.deepEqual(await fixture.refusals(project), await fixture.refusals(clean));
      await assertNothingIsLost(project);
    }
  });
  await assertNoDeadlock(server);
  printFigures(figures);

  /** Runs a worker to its end, then expires its leases. Returns whether it was killed. */
  async function runSyncer(lastCall = "0", moment = ""): Promise<boolean> {
    const workerId = crypto.randomUUID();
    const { signal } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", SYNCER, server.cluster.url, github.url, workerId]
        .concat(lastCall, moment),
      cwd: PROJECT_ROOT,
      stdin: "null",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn().status;
    await sql`
      update public.quoth_syncs set lease_expires_at = clock_timestamp()
      where worker_id = ${workerId} and status = 'running'`;
    await sql`
      update private.pending_embeddings set due_at = clock_timestamp()
      where seq in (select seq from private.pending_embeddings for update skip locked)`;
    return signal === "SIGKILL";
  }

  async function hasWork(): Promise<boolean> {
    const rows = await sql`select from public.quoth_syncs where finished_at is null limit 1`;
    return rows.length > 0;
  }

  async function assertNothingIsLost(project: TestProject): Promise<void> {
    const syncs = await fixture.syncs(project);
    figures.syncs += syncs.length;
    assert.deepEqual([...new Set(syncs.map(({ status }) => status))], ["completed"]);
    const [left] = await sql`
      select (select count(*)::int from private.quoth_sync_files) as files,
        (select count(*)::int from private.pending_embeddings) as texts`;
    assert.deepEqual({ ...left }, { files: 0, texts: 0 });
  }
});

/** Reads all documents repeatedly, like a searching user. */
function startReader({ sql }: SyncFixture): { stop(): Promise<number> } {
  const stopping = new AbortController();
  const seen = new Map<string, SeenDocument>();
  const reading = (async () => {
    while (!stopping.signal.aborted) {
      const rows = await sql`
        select document.file_path, document.content,
          (
            select coalesce(jsonb_agg(chunk.chunk_hash order by chunk.chunk_index), '[]')
            from public.document_embeddings as chunk
            where chunk.document_id = document.id
          ) as hashes
        from public.documents as document`;
      for (const row of rows) {
        const document = { path: row.file_path, content: row.content, hashes: row.hashes };
        seen.set(JSON.stringify(document), document);
      }
      // Without a pause, the reads would take most of the processor's time from the workers.
      await new Promise((resolve) => setTimeout(resolve, READ_PAUSE_MS));
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await reading;
      for (const { path, content, hashes } of seen.values()) {
        const { chunks } = await splitMarkdown(content, { filePath: path, maxTokens: 480 });
        assert.deepEqual(
          hashes,
          chunks.map(({ hash }) => hash),
          `only a part of ${path} was visible`,
        );
      }
      return seen.size;
    },
  };
}

interface SeenDocument {
  readonly path: string;
  readonly content: string;
  readonly hashes: readonly string[];
}
