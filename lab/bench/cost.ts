import { createSql, prepareStatements, type Sql } from "../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import type { ClaimedTask, TaskStore } from "../../shared/engine/worker/task_store.ts";
import { type BenchResult, judge, median, rounded } from "./bench_result.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { intentOf, resultOf, usageOfACall } from "./recorded_turns.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";
import { SessionCost } from "./session_cost.ts";

const ROUNDS = 5;
/** Tasks of a round. The same number of tasks runs before as warm-up. */
const TASKS = 60;
const OLD_TASKS = 400_000;
const WAL_TASKS = 1_000;
const OWNERS = 1_000;
/** Tasks of each owner. */
const RUNNING = 5;
const WAITING = 4;
const CLAIMS = 60;

const NOTES = [
  "`…_cpu_us`: processor time of the server's session for one call, one task at a time: a task is " +
  "created, claimed with its first step, taken through two turns of a model call with usage and a " +
  "tool call with 4 KB of result, and ended. Calls follow each other with pauses, so caches are cold.",
  "`wal_kib_beside_old`: the WAL of a task that is created, claimed and ended next to 400,000 old ones, over 1,000 tasks after a checkpoint of the server.",
  "`claim_…`: a claim of one task while tasks of 500 owners wait, with 5,000 running tasks or none.",
];

/**
 * Cost: processor time and WAL of the queue for one task, and how they grow.
 *
 * @param db Only `native`, because it measures the server's processes.
 */
export async function benchCost(db: string): Promise<BenchResult> {
  if (db !== "native") throw new Error("Cannot run the benchmark cost: use --db native");
  await using quiet = await openQueueDatabase(db);
  await using busy = await openQueueDatabase(db);
  const walKib = await walBesideOldTasks(quiet);
  await quiet.reset();
  const calls = await runRounds({ calls: await callCosts(quiet) }, {
    bench: "cost of calls",
    count: ROUNDS,
  });
  await quiet.reset();
  await addOwners(quiet.sql, 0);
  await addOwners(busy.sql, RUNNING);
  const claims = await runRounds(
    { few: claimCost(quiet), many: claimCost(busy) },
    { bench: "cost of claims", count: ROUNDS },
  );
  const spreads = {
    ...Object.fromEntries(PARTS.map((part) => [`${part}_cpu_us`, spreadIn(calls, "calls", part)])),
    claim_of_many_owners_cpu_us: spreadIn(claims, "few", "claim"),
    claim_beside_running_cpu_us: spreadIn(claims, "many", "claim"),
    claim_beside_running_to_few: ratioIn(claims, "claim", "many", "few"),
  };
  return judge("cost", { ...mediansOf(spreads), wal_kib_beside_old: rounded(walKib) }, {
    wal_kib_beside_old: { max: 11 },
    claim_beside_running_to_few: { max: 1.5 },
  }, { spreads, versions: await serverVersion(quiet.sql), notes: NOTES });
}

const PARTS = ["create", "claim", "model_step", "tool_step", "end"] as const;
type Part = typeof PARTS[number];

/** Opens one session like a worker's, and measures the cost of its calls. */
async function openSession(url: string) {
  const sql = createSql(url, { maxConnections: 1, applicationName: "bench" });
  prepareStatements(sql);
  const store = createSqlTaskStore(sql, { leaseSeconds: 600, clock: isolateClock });
  return { sql, store, cost: await SessionCost.of(sql) };
}

async function callCosts(database: QueueDatabase) {
  const usage = await usageOfACall(database.sql);
  return async () => {
    const { sql, store, cost } = await openSession(database.url);
    const values: Record<Part, number[]> = {
      create: [],
      claim: [],
      model_step: [],
      tool_step: [],
      end: [],
    };
    for (let count = 0; count < 2 * TASKS; count++) {
      if (count === TASKS) { for (const part of PARTS) values[part] = []; }
      const measure = async (part: Part, call: () => PromiseLike<unknown>) =>
        void values[part].push(await cost.cpuUs(call));
      let task: ClaimedTask | undefined;
      await measure("create", () => createTask(sql));
      await measure("claim", async () => task = await claimOne(store));
      if (task === undefined) throw new Error("Cannot claim a task: there is none");
      const lease = task;
      for (const seq of [1, 2, 3, 4]) {
        const part = seq % 2 === 1 ? "model_step" : "tool_step";
        const next = seq < 4 ? [intentOf(seq + 1)] : [];
        await measure(part, () => store.record(lease, [resultOf(seq, usage)], next));
      }
      await measure("end", () => store.finish(lease, "done", null));
    }
    await sql.end({ timeout: 1 });
    return Object.fromEntries(PARTS.map((part) => [part, median(values[part])]));
  };
}

/** KiB of WAL of a no-op task, from its creation to its end. */
async function walBesideOldTasks({ sql, checkpoint }: QueueDatabase): Promise<number> {
  await sql`
    with old as (
      insert into public.tasks
        (id, master_task_id, agent_id, agent_slug, input, output, status, created_at, started_at, finished_at)
      select made.id, made.id, agent.id, agent.slug, '"now"', '"done"', 'completed', now(), now(), now()
      from generate_series(1, ${OLD_TASKS}::int) as n
      cross join lateral (select private.new_id() as id where n > 0) as made
      join public.agents as agent on agent.slug = ${AGENT}
      returning id
    )
    insert into private.job_totals (master_task_id, task_count) select id, 1 from old`;
  await sql`vacuum analyze public.tasks`;
  const store = createSqlTaskStore(sql, { leaseSeconds: 600, clock: isolateClock });
  await checkpoint();
  const before = await walBytes(sql);
  for (let count = 0; count < WAL_TASKS; count++) {
    await createTask(sql);
    await store.finish(await claimOne(store), "done", null);
  }
  return (await walBytes(sql) - before) / WAL_TASKS / 1_024;
}

async function walBytes(sql: Sql): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select (pg_current_wal_insert_lsn() - '0/0')::float8 as bytes`;
  return row?.bytes ?? Number.NaN;
}

/**
 * Adds owners. Half of them have waiting tasks, and each has `runningCount` running ones, below the
 * quota.
 */
async function addOwners(sql: Sql, runningCount: number): Promise<void> {
  await sql`
    insert into auth.users (id, email)
    select gen_random_uuid(), 'owner' || n || '@example.com' from generate_series(1, ${OWNERS}::int) as n`;
  await sql`
    select count(*)
    from (select id from auth.users order by id limit ${OWNERS / 2}::int) as owner
    cross join generate_series(1, ${WAITING}::int) as n
    cross join lateral private.create_task(
      p_agent => ${AGENT},
      p_input => to_jsonb('now' || n),
      p_created_by => owner.id
    ) as created`;
  await sql`
    insert into public.tasks
      (id, master_task_id, agent_id, agent_slug, input, created_by, status, epoch, worker_id, lease_expires_at, started_at)
    select made.id, made.id, agent.id, agent.slug, '"now"', owner.id, 'running', 1, 'other', now() + interval '1 hour', now()
    from auth.users as owner
    cross join generate_series(1, ${runningCount}::int) as n
    cross join lateral (select private.new_id() as id where n > 0 and owner.id is not null) as made
    join public.agents as agent on agent.slug = ${AGENT}`;
  await sql`analyze`;
}

function claimCost({ url }: QueueDatabase) {
  return async () => {
    const { sql, store, cost } = await openSession(url);
    const values: number[] = [];
    for (let count = 0; count < 2 * CLAIMS; count++) {
      let task: ClaimedTask | undefined;
      values.push(await cost.cpuUs(async () => task = await claimOne(store)));
      if (task !== undefined) await store.finish(task, "done", null);
    }
    await sql.end({ timeout: 1 });
    return { claim: median(values.slice(CLAIMS)) };
  };
}

function createTask(sql: Sql): PromiseLike<unknown> {
  return sql`select task_id from private.create_task(${AGENT}, '"now"')`;
}

async function claimOne(store: TaskStore): Promise<ClaimedTask> {
  const [task] = await store.claim("bench", 1);
  if (task === undefined) throw new Error("Cannot claim a task: there is none");
  return task;
}
