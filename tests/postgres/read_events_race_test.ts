import assert from "node:assert/strict";
import { seededRandom } from "../../scripts/seeded_random.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import type { Transaction } from "./native_server.ts";
import { createEventReader, storedIds } from "./event_reader.ts";
import {
  assertNoDeadlock,
  createFamilies,
  inLanes,
  modelResult,
  openRaceTrack,
  printFigures,
} from "./race_fixture.ts";

Deno.test("a reader of a job's events gets each event once, in any order of commits", async (t) => {
  await using track = await openRaceTrack();
  const { sql } = track;
  const openJob = async (childCount: number) => {
    const [family] = await createFamilies(track, 1, childCount);
    assert.ok(family !== undefined);
    return family;
  };

  await t.step("an event that becomes visible after one with a higher id is returned", async () => {
    const { parent, children: [early, late] } = await openJob(2);
    const reader = createEventReader(sql, parent.taskId);
    await reader.readAll();

    const seen = await sql.begin(async (held) => {
      await writeEvent(held, early);
      await writeEvent(sql, late);
      return await reader.readPage();
    });
    const delayed = await reader.readPage();

    assert.ok(Math.max(...delayed) < Math.min(...seen), "the second page has the lower id");
    assert.deepEqual(reader.ids.toSorted(byValue), await storedIds(sql, parent.taskId));
    assert.deepEqual(await reader.readPage(), []);
  });

  await t.step(
    "6 writers whose transactions commit or roll back at random: none lost",
    async () => {
      const rounds = 60;
      const { parent, children } = await openJob(6);
      const readers = [1, 3, 200].map((limit) => createEventReader(sql, parent.taskId, limit));
      const random = seededRandom(7);
      let isDone = false;

      const reading = readers.map(async (reader) => {
        while (!isDone) await reader.readPage();
      });
      await inLanes(6, children, async (child) => {
        for (let round = 0; round < rounds; round++) {
          await sql.begin(async (tx) => {
            await writeEvent(tx, child);
            if (random() < 0.5) await tx`select pg_sleep(${random() * 0.01})`;
            if (random() < 0.2) await tx`select 1 / 0`;
            await writeEvent(tx, child);
          }).catch((error) => assert.equal(error.code, "22012"));
        }
      });
      isDone = true;
      await Promise.all(reading);
      await Promise.all(readers.map((reader) => reader.readAll()));

      const stored = await storedIds(sql, parent.taskId);
      printFigures({ events: stored.length, readers: readers.length });
      for (const { ids } of readers) assert.deepEqual(ids.toSorted(byValue), stored);
    },
  );

  await t.step("a cursor of 1,000 tasks has some digits once all of it is visible", async () => {
    const { parent, children } = await openJob(1_000);
    const reader = createEventReader(sql, parent.taskId);
    await reader.readAll();
    await reader.readPage();
    assert.match(reader.cursor(), /^\.\d+$/);

    const lengths = await beside(track.admin, async () => {
      for (const child of children.slice(0, 300)) await writeEvent(sql, child);
      await reader.readAll();
      const during = reader.cursor().length;
      await writeEvent(sql, children[0]);
      assert.equal((await reader.readPage()).length, 1);
      return { during };
    });
    await reader.readPage();
    await reader.readPage();

    printFigures({ beside_an_open_transaction: lengths.during, after: reader.cursor().length });
    assert.match(reader.cursor(), /^\.\d+$/);
    assert.deepEqual(reader.ids.toSorted(byValue), await storedIds(sql, parent.taskId));
  });

  await t.step("an open transaction that is newer than all ended ones loses nothing", async () => {
    const { parent, children: [early, late] } = await openJob(2);
    const reader = createEventReader(sql, parent.taskId);
    await reader.readAll();
    const older = await track.admin.reserve();
    try {
      // Triggers have subtransactions, whose ids would be newer than the open transaction.
      await older`set session_replication_role = replica`;
      await older`begin`;
      await older`select from public.tasks where id = ${late?.taskId ?? ""} for no key update`;
      await sql.begin(async (newer) => {
        await writeEvent(newer, early);
        await older`
          insert into private.task_events (task_id, master_task_id, type)
          values (${late?.taskId ?? ""}, ${parent.taskId}, 'data.saved')`;
        await older`commit`;
        for (let page = 0; page < 3; page++) await reader.readPage();
      });
      await reader.readPage();
    } finally {
      await older`reset session_replication_role`;
      older.release();
    }

    assert.deepEqual(reader.ids.toSorted(byValue), await storedIds(sql, parent.taskId));
  });

  await t.step("a read in a transaction that has written something loses nothing", async () => {
    const { parent, children: [early, late] } = await openJob(2);
    const session = await sql.reserve();
    const reader = createEventReader(session, parent.taskId);
    try {
      // This session has its transaction id before the writer has one.
      await session`begin`;
      await session`select pg_current_xact_id()`;
      await sql.begin(async (held) => {
        await writeEvent(held, early);
        await writeEvent(sql, late);
        await reader.readAll();
        await session`commit`;
        await reader.readPage();
        await reader.readPage();
      });
      await reader.readPage();
    } finally {
      session.release();
    }

    assert.deepEqual(reader.ids.toSorted(byValue), await storedIds(sql, parent.taskId));
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});

/** Writes an event of a running task: the result of a model call. */
async function writeEvent(sql: Sql | Transaction, lease: Lease | undefined): Promise<void> {
  assert.ok(lease !== undefined);
  const { taskId, epoch } = lease;
  const result = JSON.stringify(modelResult(1, "text"));
  await sql`
    select private.record_steps(${taskId}::uuid, ${epoch}::bigint, 60, jsonb_build_array(
      ${result}::text::jsonb || jsonb_build_object('seq', (
        select count(*) + 1 from public.task_steps where task_id = ${taskId}::uuid
      ))), '[]')`;
}

/** Runs `work` while another session's transaction, which has written, stays open. */
async function beside<T>(sql: Sql, work: () => Promise<T>): Promise<T> {
  return await sql.begin(async (foreign) => {
    await foreign`select pg_current_xact_id()`;
    return await work();
  }) as T;
}

function byValue(a: number, b: number): number {
  return a - b;
}
