import assert from "node:assert/strict";
import { readDocument } from "../../../shared/servers/quoth/sync/read_document.ts";
import { splitMarkdown } from "../../../shared/servers/quoth/markdown/split_markdown.ts";
import { writeLine } from "../../../scripts/terminal.ts";
import { filesOf, SyncFixture, type TestProject } from "./sync_fixture.ts";
import { createHistory, createRandom, type Tree } from "./sync_history.ts";
import { Killed, killedPorts } from "./sync_killed_ports.ts";

const PUSHES = 150;
const SEED = 20_261_101;
/** Of the chunks that re-embedding each changed file would cost. */
const MAX_SHARE = 0.3;

Deno.test("any history, whatever happens to its deliveries and workers, ends like a clean index", async () => {
  await using fixture = await SyncFixture.open();
  const project = await fixture.addProject();
  const random = createRandom(SEED);
  const { github } = fixture;
  let synced: Tree = new Map();
  let naiveCount = 0;
  let kills = 0;
  const late: string[] = [];

  for (const { tree } of createHistory(SEED, PUSHES)) {
    const commit = await github.push("main", filesOf(Object.fromEntries(tree)));
    github.maxTreeEntries = random() < 0.1 ? 5 : Infinity;
    const fate = random();
    if (fate < 0.1) continue;
    if (fate < 0.2) {
      late.push(commit);
      continue;
    }
    const deliveryId = crypto.randomUUID();
    await fixture.sendPush(project, { commit, deliveryId });
    if (fate < 0.3) await fixture.sendPush(project, { commit, deliveryId });
    const older = random() < 0.5 ? late.shift() : undefined;
    if (older !== undefined) await fixture.sendPush(project, { commit: older });

    kills += await drainThroughDeaths(fixture, random);
    naiveCount += await naiveEmbeddings(synced, tree);
    synced = tree;
  }
  github.maxTreeEntries = Infinity;
  // The last pushes may be lost: a search or cron requests the head.
  await fixture.sql`select private.request_head_check(${project.id}, '0 seconds')`;
  await fixture.drain();

  const clean = await fixture.addProject("clean");
  await fixture.sql`select private.request_sync('clean')`;
  await fixture.drain();
  assert.deepEqual(await fixture.indexOf(project), await fixture.indexOf(clean));
  assert.deepEqual(await fixture.refusals(project), await fixture.refusals(clean));
  assert.deepEqual(await fixture.commits(project), await fixture.commits(clean));
  await assertNothingIsLeft(fixture, project);

  const syncs = await fixture.syncs(project);
  const madeCount = syncs.reduce((sum, sync) => sum + sync.embedded_count, 0);
  const share = madeCount / naiveCount;
  writeLine(
    `${PUSHES} pushes, ${syncs.length} syncs, ${kills} workers killed: ${madeCount} texts embedded ` +
      `of ${naiveCount} in changed files (${(100 * share).toFixed(1)} %)`,
  );
  assert.ok(kills >= 20, `only ${kills} workers were killed`);
  assert.ok(share <= MAX_SHARE, `${(100 * share).toFixed(1)} % were embedded`);
});

/** Drains, every third time with workers that die midway. Returns how many died. */
async function drainThroughDeaths(fixture: SyncFixture, random: () => number): Promise<number> {
  let kills = 0;
  while (random() < 0.3) {
    const death = { atCall: 1 + Math.floor(random() * 30), isAfter: random() < 0.5 };
    try {
      await fixture.drain({ ports: (ports) => killedPorts(ports, death) });
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      kills++;
    }
    await fixture.passTime();
  }
  // A small budget changes workers in the middle of a sync.
  if (random() < 0.2) await fixture.drain({ cpuMs: 1 });
  await fixture.drain();
  return kills;
}

/** Chunks of the files that differ: the cost of embedding by the file's checksum. */
async function naiveEmbeddings(before: Tree, after: Tree): Promise<number> {
  let count = 0;
  for (const [path, content] of after) {
    if (!/\.mdx?$/.test(path) || before.get(path) === content) continue;
    if (typeof content !== "string" || content.length > 1_048_576) continue;
    const text = readDocument(new TextEncoder().encode(content));
    count += (await splitMarkdown(text, { filePath: path, maxTokens: 480 })).chunks.length;
  }
  return count;
}

async function assertNothingIsLeft(fixture: SyncFixture, project: TestProject): Promise<void> {
  const [left] = await fixture.sql`
    select
      (select count(*)::int from public.quoth_syncs where project_id = ${project.id} and status <> 'completed') as unfinished,
      (select count(*)::int from private.quoth_sync_files) as files,
      (select count(*)::int from private.pending_embeddings) as chunks`;
  assert.deepEqual({ ...left }, { unfinished: 0, files: 0, chunks: 0 });
}
