import assert from "node:assert/strict";
import { z } from "../../shared/vendor/zod.js";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import { type NativeServer, startMigratedServer } from "./native_server.ts";
import {
  claimAll,
  createFamilies,
  createRunning,
  modelResult,
  openRaceTrack,
  type RaceTrack,
  subtaskIntent,
  subtaskOf,
} from "./race_fixture.ts";

/** They only write events of tasks that they create, which no other session can see. */
const CREATORS = ["create_task", "fork_task"];

Deno.test("every function that writes an event holds the lock of the task's row", async (t) => {
  await using server = await startMigratedServer();
  await using track = await openRaceTrack({ server });
  await addWitness(server);

  await callEveryWriter(track);

  const seen = await readWitness(track.admin);
  await t.step("no event was written while another session could lock its task", () => {
    assert.deepEqual(seen.filter(({ state }) => state === "free"), []);
  });
  await t.step("every function whose source writes events was called", async () => {
    const writers = await writersInSource(track.sql);
    assert.ok(writers.length > CREATORS.length);
    const locked = seen.filter(({ state }) => state === "locked").flatMap(({ stack }) => stack);
    const created = seen.filter(({ state }) => state === "new").flatMap(({ stack }) => stack);
    const missing = writers.filter((writer) =>
      !(CREATORS.includes(writer) ? created : locked).includes(writer)
    );
    assert.deepEqual(missing, [], "call them in callEveryWriter()");
  });
  await t.step("the witness notices a writer without the lock", async () => {
    await track.sql`
      select private.emit_event(id, id, 'data.saved') from public.tasks where parent_id is null limit 1`;
    assert.ok((await readWitness(track.admin)).some(({ state }) => state === "free"));
  });
  await t.step("ids are assigned one by one", async () => {
    // With a larger cache, sessions would take ids in advance, and ids would not follow the order of writes.
    const [row] = await track.sql`
      select seqcache::int as cache from pg_sequence
      where seqrelid = pg_get_serial_sequence('private.task_events', 'id')::regclass`;
    assert.equal(row?.cache, 1);
  });
});

/**
 * Makes a second session try to lock the task of each event at the moment when the event is
 * written: "locked" when it cannot, "new" when it does not see the task, otherwise "free".
 */
async function addWitness({ admin, cluster }: NativeServer): Promise<void> {
  await admin.unsafe(`
    create schema witness;
    create extension dblink schema witness;
    create table witness.seen (state text not null, stack text not null);
    create function witness.watch() returns trigger language plpgsql security definer set search_path = '' as $$
    declare
      v_stack text;
      v_state text;
    begin
      get diagnostics v_stack = pg_context;
      if witness.dblink_get_connections() is null then
        perform witness.dblink_connect('witness', '${cluster.adminUrl}');
      end if;
      select answer.state into v_state from witness.dblink('witness', format(
        'with task as materialized (select id from public.tasks where id = %1$L),
          taken as materialized (select id from public.tasks where id = %1$L for no key update skip locked)
        select case
          when not exists (select from task) then ''new''
          when exists (select from taken) then ''free''
          else ''locked''
        end', new.task_id)) as answer (state text);
      perform witness.dblink_exec('witness', format('insert into witness.seen values (%L, %L)', v_state, v_stack));
      return new;
    end $$;
    create trigger witness before insert on private.task_events for each row execute function witness.watch();
  `).simple();
}

async function readWitness(admin: Sql) {
  const rows = await admin`select distinct state, stack from witness.seen`;
  return z.array(z.object({ state: z.string(), stack: z.string() })).parse([...rows]).map((
    row,
  ) => ({
    state: row.state,
    stack: [...row.stack.matchAll(/^(?:PL\/pgSQL function private\.|SQL function ")(\w+)/gm)]
      .map(([, name = ""]) => name),
  }));
}

async function writersInSource(sql: Sql): Promise<string[]> {
  const rows = await sql`
    select proname from pg_proc
    where pronamespace in ('private'::regnamespace, 'public'::regnamespace)
      and prosrc ~ '(insert into private[.]task_events|private[.]emit_events?[(])'
    order by proname`;
  return rows.map(({ proname }) => String(proname));
}

/** Calls each function that writes events, on tasks that exist already where it can. */
async function callEveryWriter(track: RaceTrack): Promise<void> {
  const { sql, store } = track;
  const [alone] = await createRunning(track, 1);
  const [family, waiting] = await createFamilies(track, 2, 2);
  const [answering, failing] = family?.children ?? [];
  assert.ok(alone && family && waiting && answering && failing);

  await store.begin(family.parent, [subtaskIntent(9)]);
  await store.spawn(family.parent, [{ ...subtaskOf(subtaskIntent(9)), agent: "unknown" }]);
  await store.park(family.parent);
  await store.record(answering, [modelResult(1, "text")], []);
  await sql`select private.request_review(${answering.taskId}, ${answering.epoch}, 2, 'May I?')`;
  for (
    const act of ["respond_to_review($1, true)", "reopen_review($1)", "respond_to_review($1, true)"]
  ) {
    await sql.unsafe(`select public.${act}`, [answering.taskId]);
  }
  await sql`
    select private.report_absent_tools(${answering.taskId}, '[{"server": "s", "code": "X", "message": "m"}]')`;
  await sql`
    select private.fail_task(${failing.taskId}, ${failing.epoch}, '{"code": "X"}', 'backoff')`;
  await cutModelCall(track, answering);
  for (const child of await claimAll(store)) await store.finish(child, "done", null);

  // Two jobs at once.
  const [child] = waiting.children;
  assert.ok(child);
  await Promise.all([alone, child].map((lease) => store.record(lease, [modelResult(1, "a")], [])));

  // The subtasks wait.
  for (const child of waiting.children) await store.yield(child);
  await sql`select public.cancel_task(${waiting.parent.taskId})`;
  await store.finish(waiting.parent, "done", null);
  await sql`select public.retry_task(${waiting.parent.taskId})`;

  await finishTogether(sql, alone);
  await sql`select public.continue_task(${alone.taskId}, '"More"')`;
  await sql`select public.fork_task(${answering.taskId}, 1)`;
  await runWorkflow(sql);
}

/** A workflow that has done a step, asks a person and gets a signal. */
async function runWorkflow(sql: Sql): Promise<void> {
  await sql`select private.register_workflows('runner', '[{"name": "workflow"}]')`;
  const [created] =
    await sql`select task_id as id from private.create_task('workflow', '"Go"', null)`;
  const id = String(created?.id);
  const [claimed] = await sql`
    select epoch::text from private.claim_tasks('w', 1, 60, true, 'runner', array['workflow'])`;
  const epoch = String(claimed?.epoch);
  await sql`select public.signal_task(${id}, 'go')`;
  await sql`select private.record_workflow(${id}, ${epoch}, 60, '[
    {"seq": 1, "kind": "step", "name": "a", "state": "done", "output": {"value": 1}},
    {"seq": 2, "kind": "system", "name": "b", "state": "started", "input": {"wait": "signal", "signal": "go"}},
    {"seq": 3, "kind": "system", "name": "c", "state": "started", "input": {"wait": "review", "question": "May I?"}}
  ]')`;
  await sql`select private.suspend_workflow(${id}, ${epoch}, '[3]')`;
}

async function cutModelCall({ sql, store }: RaceTrack, { taskId }: Lease): Promise<void> {
  const lease = (await claimAll(store)).find((claimed) => claimed.taskId === taskId);
  assert.ok(lease);
  await sql`
    select private.begin_steps(${taskId}, ${lease.epoch}, 60, '[{"seq": 3, "kind": "model", "name": "m"}]')`;
  await sql`
    select private.yield_task(${taskId}, ${lease.epoch}, '[]', '{"seq": 3, "input_tokens": 1, "output_tokens": 1}')`;
}

async function finishTogether(sql: Sql, { taskId, epoch }: Lease): Promise<void> {
  const finishes = [{ id: taskId, held_epoch: epoch, output: "done", reference: null }];
  await sql`select private.finish_tasks(${JSON.stringify(finishes)}::text::jsonb)`;
}
