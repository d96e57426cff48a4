import assert from "node:assert/strict";
import type { StepIntent } from "../../shared/engine/agent/planned_call.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type {
  Lease,
  StepRecord,
  SubtaskRequest,
  TaskStore,
} from "../../shared/engine/worker/task_store.ts";
import { type NativeServer, startMigratedServer } from "./native_server.ts";

/** The agent of every task here. */
export const AGENT = "racer";

/** How a track opens. */
export interface RaceTrackOptions {
  /** Connections that the racers share. @default 16 */
  readonly connections?: number;
  /**
   * For claims and checkpoints; long, so that leases expire only in tests of leases. @default 60
   */
  readonly leaseSeconds?: number;
  /** Remains the caller's. @default a new server */
  readonly server?: NativeServer;
}

/** A native server with the migrations, whose tasks many connections compete for. */
export interface RaceTrack extends AsyncDisposable {
  readonly sql: Sql;
  /** As the superuser. */
  readonly admin: Sql;
  readonly store: TaskStore;
}

/** Opens one; call {@linkcode assertNoDeadlock} at the end of the test. */
export async function openRaceTrack(options: RaceTrackOptions = {}): Promise<RaceTrack> {
  const server = options.server ?? await startMigratedServer();
  await addAgent(server.sql);
  const sql = createSql(server.cluster.url, {
    maxConnections: options.connections ?? 16,
    applicationName: "racers",
  });
  // Races are about claims, and in most of them one owner has all tasks.
  await sql`update private.quotas set amount = null`;
  return {
    sql,
    admin: server.admin,
    store: createSqlTaskStore(sql, {
      leaseSeconds: options.leaseSeconds ?? 60,
      clock: isolateClock,
    }),
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 });
      if (options.server === undefined) await server[Symbol.asyncDispose]();
    },
  };
}

/** Asserts that no statement was the victim of a deadlock, not even one whose error was caught. */
export async function assertNoDeadlock({ admin }: Pick<RaceTrack, "admin">): Promise<void> {
  const [row] = await admin`
    select split_part(log, 'ERROR:  deadlock detected', 2) as report
    from pg_read_file('../postgres.log') as log`;
  assert.equal(row?.report, "", "the server's log reports a deadlock");
}

/** Without a provider, a claim begins no model call, so that a test writes every step itself. */
async function addAgent(sql: Sql): Promise<void> {
  await sql`
    insert into public.agents (name, slug, system_prompt) values (${AGENT}, ${AGENT}, 'You race.')`;
}

/** Creates master tasks and returns their ids. */
export async function createTasks(sql: Sql, count: number): Promise<string[]> {
  const rows = await sql`
    select created.task_id
    from generate_series(1, ${count}::int) as n,
      lateral private.create_task(${AGENT}, jsonb_build_object('n', n)) as created`;
  return rows.map(({ task_id }) => String(task_id));
}

/** Claims until nothing claimable is left. */
export async function claimAll(store: TaskStore, workerId = "setup"): Promise<Lease[]> {
  const leases: Lease[] = [];
  while (true) {
    const claimed = await store.claim(workerId, 50);
    if (claimed.length === 0) return leases;
    leases.push(...claimed.map(({ taskId, epoch }) => ({ taskId, epoch })));
  }
}

/** Ends every lease, and returns the tasks to the lines, as the next heartbeat of a worker does. */
export async function endLeases(sql: Sql): Promise<void> {
  await sql`update public.tasks set lease_expires_at = clock_timestamp() where status = 'running'`;
  while (true) {
    const [row] = await sql`select private.return_expired_tasks() as count`;
    if (row?.count === 0) return;
  }
}

/** Creates master tasks and claims them. */
export async function createRunning({ sql, store }: RaceTrack, count: number): Promise<Lease[]> {
  await createTasks(sql, count);
  const leases = await claimAll(store);
  assert.equal(leases.length, count);
  return leases;
}

/** A `create_subtask` step in the state before its subtask is created. */
export function subtaskIntent(seq: number): StepIntent {
  return { seq, kind: "system", name: "create_subtask", call_id: `call_${seq}`, input: {} };
}

/** The subtask that a `create_subtask` step requests. */
export function subtaskOf({ seq }: StepIntent): SubtaskRequest {
  return { seq, agent: AGENT, input: "a part", problem: null };
}

/**
 * Writes that many `create_subtask` steps, starting at the first number, and creates their
 * subtasks.
 */
async function spawnChildren(store: TaskStore, lease: Lease, count: number): Promise<void> {
  const intents = Array.from({ length: count }, (_, index) => subtaskIntent(index + 1));
  await store.begin(lease, intents);
  await store.spawn(lease, intents.map(subtaskOf));
}

/** An ended model step. */
export function modelResult(seq: number, text: string): StepRecord {
  const output = { text, tool_calls: [], finish_reason: "stop" };
  const intent: StepIntent = { seq, kind: "model", name: "script-1", call_id: null, input: null };
  return { ...intent, state: "done", output };
}

/** A running parent with its running children. */
export interface Family {
  readonly parent: Lease;
  readonly children: readonly Lease[];
}

/** Families whose members all run, so that the queue has nothing to claim. */
export async function createFamilies(
  track: RaceTrack,
  count: number,
  childCount: number,
): Promise<Family[]> {
  const { sql, store } = track;
  const parents = await createRunning(track, count);
  await inLanes(8, parents, (parent) => spawnChildren(store, parent, childCount));
  const leases = await claimAll(store);
  assert.equal(leases.length, count * childCount);
  const parentOf = new Map(
    (await sql`select id, parent_id from public.tasks where parent_id is not null`)
      .map(({ id, parent_id }) => [String(id), String(parent_id)]),
  );
  return parents.map((parent) => ({
    parent,
    children: leases.filter(({ taskId }) => parentOf.get(taskId) === parent.taskId),
  }));
}

/** Runs `body` for every item, with that many concurrent calls. */
export async function inLanes<T, R>(
  laneCount: number,
  items: readonly T[],
  body: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const lanes = Array.from({ length: laneCount }, async () => {
    for (const [index, item] of queue) results[index] = await body(item, index);
  });
  await Promise.all(lanes);
  return results;
}

/** The items in a random order. */
export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items.map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

/** The number of messages ever sent to the queue. */
export async function sentMessageCount(sql: Sql): Promise<number> {
  const [row] = await sql`select last_value::int as count from pgmq.q_agent_tasks_msg_id_seq`;
  return Number(row?.count);
}

/** The number of tasks by status. */
export async function statusCounts(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql`
    select status, count(*)::int as count from public.tasks group by status order by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/** Asserts the state after every job has ended: nothing waits, and the queue is empty. */
export async function assertAllSettled(sql: Sql): Promise<void> {
  const [row] = await sql`
    select
      (select count(*)::int from public.tasks where finished_at is null) as unfinished,
      (select count(*)::int from public.tasks where pending_children <> 0) as uncounted_parents,
      (select count(*)::int from pgmq.q_agent_tasks) as messages,
      (select count(*)::int from public.human_reviews where answered_at is null) as open_reviews,
      (
        select count(*)::int from public.tasks as task
        where 1 <> (
          select count(*) from public.task_events as event
          where event.task_id = task.id
            and event.type in ('task.completed', 'task.failed', 'task.cancelled')
        )
      ) as not_ended_once`;
  assert.deepEqual({ ...row }, {
    unfinished: 0,
    uncounted_parents: 0,
    messages: 0,
    open_reviews: 0,
    not_ended_once: 0,
  });
}

/**
 * Asserts the invariants at every moment: a pending task has exactly one message, any other has
 * none, and a task's counter equals the number of its open children.
 */
export async function assertConsistent(sql: Sql): Promise<void> {
  const [row] = await sql`
    select
      (
        select count(*)::int from public.tasks as task
        where (case when task.status = 'pending' then 1 else 0 end) <> (
          select count(*) from pgmq.q_agent_tasks as live where live.message ->> 'task_id' = task.id::text
        )
      ) as without_its_message,
      (
        select count(*)::int from pgmq.q_agent_tasks as live
        where not exists (select from public.tasks where id::text = live.message ->> 'task_id' and status = 'pending')
      ) as stray_messages,
      (
        select count(*)::int from public.tasks as task
        where task.pending_children <> (
          select count(*) from public.tasks as child
          where child.parent_id = task.id and child.finished_at is null
        )
      ) as miscounted_parents`;
  assert.deepEqual({ ...row }, {
    without_its_message: 0,
    stray_messages: 0,
    miscounted_parents: 0,
  });
}

/** Prints figures of a test on a separate line. */
export function printFigures(figures: Readonly<Record<string, number>>): void {
  const text = Object.entries(figures).map(([name, figure]) => `${name} ${figure}`).join(", ");
  Deno.stdout.writeSync(new TextEncoder().encode(`    ${text}\n`));
}
