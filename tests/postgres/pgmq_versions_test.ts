import assert from "node:assert/strict";
import { findNativePrefix } from "../../stack/native/native_prefix.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { applyMigrations } from "../../stack/migrations/apply_migrations.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { Lease, TaskStore } from "../../shared/engine/worker/task_store.ts";
import { type PgtapFile, pgtapFiles, runPgtapFiles } from "../platform/pgtap/pgtap.ts";
import { startNativeServer } from "./native_server.ts";
import { assertConsistent, createTasks, inLanes, openRaceTrack } from "./race_fixture.ts";

/** Differences between our pgmq and another version: pieces of its SQL, and their replacements. */
type Changes = readonly (readonly [RegExp, string])[];

/** Older projects: no headers, no conditions, one way to send, and one metric less. */
const AS_1_4_4: Changes = [
  [/^create function pgmq\.send(?:_batch)?\([^]*?^\$\$;\n/gm, ""],
  [
    /^-- Receiving -+$/m,
    `create function pgmq.send(queue_name text, msg jsonb, delay integer default 0)
     returns setof bigint language plpgsql as $$
     begin
       return query execute format(
         'insert into pgmq.%I (vt, message) values ($1, $2) returning msg_id',
         pgmq.format_table_name(send.queue_name, 'q'))
         using clock_timestamp() + make_interval(secs => send.delay), send.msg;
     end; $$;
     create function pgmq.send_batch(queue_name text, msgs jsonb[], delay integer default 0)
     returns setof bigint language plpgsql as $$
     begin
       return query execute format(
         'insert into pgmq.%I (vt, message) select $1, unnest($2) returning msg_id',
         pgmq.format_table_name(send_batch.queue_name, 'q'))
         using clock_timestamp() + make_interval(secs => send_batch.delay), send_batch.msgs;
     end; $$;`,
  ],
  [/,\s*headers jsonb$/gm, ""],
  [/,\s*(queue\.)?headers\b/g, ""],
  [/,\s*conditional jsonb default '{}'/g, ""],
  [/\n\s*and \(coalesce\(\$3.*$/m, ""],
  [/,\s*read(_with_poll)?\.conditional/g, ""],
  [/,\s*queue_visible_length bigint/, ""],
  [/,\s*count\(\*\) filter \(where vt <= now\(\)\)/, ""],
];

/** Newer projects: one more column before `vt`, and more ways to move a lease. */
const AS_1_13: Changes = [
  [/^\s*(?=vt timestamptz(?: not null)?,$)/gm, "  last_read_at timestamptz,\n"],
  [/queue\.enqueued_at, queue\.vt/g, "queue.enqueued_at, queue.last_read_at, queue.vt"],
  [/(?<=read_ct = queue\.read_ct \+ 1)/, ", last_read_at = clock_timestamp()"],
  [
    /^-- Finishing -+$/m,
    `create function pgmq.set_vt(queue_name text, msg_id bigint, vt timestamptz)
     returns setof pgmq.message_record language sql as $$
       select * from pgmq.set_vt(
         set_vt.queue_name, set_vt.msg_id, extract(epoch from set_vt.vt - clock_timestamp())::integer);
     $$;
     create function pgmq.set_vt(queue_name text, msg_ids bigint[], vt integer)
     returns setof pgmq.message_record language sql as $$
       select moved.* from unnest(set_vt.msg_ids) as id, pgmq.set_vt(set_vt.queue_name, id, set_vt.vt) as moved;
     $$;`,
  ],
];

for (const [version, changes] of [["1.4.4", AS_1_4_4], ["1.13.0", AS_1_13]] as const) {
  Deno.test(`the SQL that uses the queue runs on pgmq ${version}`, async (test) => {
    await using server = await startNativeServer();
    await using _placed = await placePgmq(version, changes);
    await server.sql.unsafe(`create extension pgmq version '${version}'`);
    await applyMigrations(server.cluster, PROJECT_ROOT);
    const sql = createSql(server.cluster.url, { maxConnections: 1, applicationName: "pgtap" });
    try {
      await test.step("a queue has that version's columns", async () => {
        const columns = await sql`
          select attname from pg_attribute
          where attrelid = 'pgmq.q_agent_tasks'::regclass and attnum > 0 order by attnum`;

        assert.deepEqual(columns.map(({ attname }) => attname), COLUMNS[version]);
      });
      await runPgtapFiles(test, sql, await filesThatUseTheQueue(sql));
    } finally {
      await sql.end();
    }

    await test.step("8 workers claim and finish each of 100 tasks exactly once", async () => {
      await using track = await openRaceTrack({ server });
      const taskIds = await createTasks(track.sql, 100);

      const leases = await claimTogether(track.store, 100);
      await inLanes(8, leases, (lease) => track.store.finish(lease, "done", null));

      assert.deepEqual(leases.map(({ taskId }) => taskId).sort(), taskIds.sort());
      const [left] = await track.sql`
        select count(*) filter (where status <> 'completed')::int as tasks,
          (select count(*)::int from pgmq.q_agent_tasks) as messages
        from public.tasks`;
      assert.deepEqual({ ...left }, { tasks: 0, messages: 0 });
      await assertConsistent(track.sql);
    });
  });
}

/** Eight concurrent workers claim until `count` tasks are claimed. */
async function claimTogether(store: TaskStore, count: number): Promise<Lease[]> {
  const leases: Lease[] = [];
  const workers = Array.from({ length: 8 }, (_, index) => `worker-${index}`);
  await inLanes(workers.length, workers, async (workerId) => {
    while (leases.length < count) leases.push(...await store.claim(workerId, 3));
  });
  return leases;
}

/** The factories, and the tests of all functions that use pgmq, be it through others. */
async function filesThatUseTheQueue(sql: Sql): Promise<PgtapFile[]> {
  const rows = await sql<{ name: string }[]>`
    with recursive ours as (
      select proname as name, prosrc as source from pg_proc
      where pronamespace in ('public'::regnamespace, 'private'::regnamespace)
    ),
    using_it as (
      select name from ours where source ~ '\\mpgmq\\.'
      union
      select caller.name from using_it, ours as caller
      -- run_maintenance() and run_for_each() get the name as a text.
      where caller.source ~ format('\\m(public|private)\\.%1$s\\M|''%1$s''', using_it.name)
    )
    select name from using_it`;
  const names = new Set(rows.map(({ name }) => name));
  assert.ok(names.has("follow_waiting_task") && names.has("reconcile"), [...names].join(", "));
  const files = await pgtapFiles();
  return files.filter(({ folder, sql: text }) =>
    folder === "" || names.has(folder) || text.includes("pgmq.")
  );
}

const COLUMNS = {
  "1.4.4": ["msg_id", "read_ct", "enqueued_at", "vt", "message"],
  "1.13.0": ["msg_id", "read_ct", "enqueued_at", "last_read_at", "vt", "message", "headers"],
};

/** Offers another version of pgmq to the native servers until the end of the scope. */
async function placePgmq(version: string, changes: Changes): Promise<AsyncDisposable> {
  const { extensionDir } = await findNativePrefix();
  const path = `${extensionDir}/pgmq--${version}.sql`;
  let script = await Deno.readTextFile(`${extensionDir}/pgmq--1.5.1.sql`);
  for (const [piece, replacement] of changes) {
    assert.match(script, piece);
    script = script.replace(piece, () => replacement);
  }
  await Deno.writeTextFile(path, script);
  return { [Symbol.asyncDispose]: () => Deno.remove(path) };
}
