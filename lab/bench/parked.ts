import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { type BenchResult, judge } from "./bench_result.ts";
import { measureSerially, nowMs } from "./measure_serially.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";
import { startWorkerProcess } from "./worker_process.ts";

const ROUNDS = 5;
const PARKED = 50_000;
const HANDLER_TIMEOUT_MS = 30_000;

/**
 * Parked load: how fast a worker picks up a task on a database where 50,000 tasks wait for a
 * person, compared with an empty one. Measures two servers in turn, each with its own worker.
 *
 * @param db Only `native`, because it needs two databases and workers that listen.
 */
export async function benchParked(db: string): Promise<BenchResult> {
  if (db !== "native") throw new Error("Cannot run the benchmark parked: use --db native");
  await using empty = await openQueueDatabase(db);
  await using parked = await openQueueDatabase(db);
  await park(parked.sql);
  await Promise.all([empty, parked].map(({ sql }) => sql`analyze`));
  await using emptyWorker = await startWorker(empty);
  await using parkedWorker = await startWorker(parked);

  const measure = ({ sql }: QueueDatabase, worker: typeof emptyWorker) => () =>
    measureSerially(async () => {
      const sentAtMs = nowMs();
      await sql`select task_id from private.create_task(${AGENT}, '"now"')`;
      return (await worker.next(HANDLER_TIMEOUT_MS)).at_ms - sentAtMs;
    });
  const rounds = await runRounds({
    empty: measure(empty, emptyWorker),
    parked: measure(parked, parkedWorker),
  }, { bench: "parked", count: ROUNDS });
  const spreads = {
    p50_to_empty: ratioIn(rounds, "p50_ms", "parked", "empty"),
    p50_ms: spreadIn(rounds, "parked", "p50_ms"),
    p95_ms: spreadIn(rounds, "parked", "p95_ms"),
    empty_p50_ms: spreadIn(rounds, "empty", "p50_ms"),
    empty_p95_ms: spreadIn(rounds, "empty", "p95_ms"),
  };
  return judge("parked", { parked: await parkedCount(parked.sql), ...mediansOf(spreads) }, {
    parked: { min: PARKED },
    p50_to_empty: { max: 1.1 },
  }, {
    spreads,
    versions: await serverVersion(parked.sql),
    notes: [
      "The parked tasks are written in one statement, with a step and an open review each, in the state after parking: no lease and no message in a queue.",
    ],
  });
}

function startWorker({ url }: QueueDatabase) {
  return startWorkerProcess(
    { system: "supaswarm", url, concurrency: 8, poolSize: 4, marks: null },
    null,
  );
}

/** Creates tasks in the state after `private.request_review()`. */
async function park(sql: Sql): Promise<void> {
  await sql`
    with parked as (
      insert into public.tasks
        (id, master_task_id, agent_id, agent_slug, input, status, epoch, started_at)
      select made.id, made.id, agent.id, agent.slug, '"now"', 'needs_human_review', 1, now()
      from generate_series(1, ${PARKED}::int) as n
      cross join lateral (select gen_random_uuid() as id where n > 0) as made
      join public.agents as agent on agent.slug = ${AGENT}
      returning id
    ),
    step as (
      insert into public.task_steps
        (task_id, seq, kind, state, name, call_id, epoch)
      select id, 1, 'system', 'started', 'request_human_review', 'call_1', 1
      from parked
    ),
    total as (
      insert into private.job_totals (master_task_id, task_count) select id, 1 from parked
    )
    insert into public.human_reviews (task_id, seq, question) select id, 1, 'Go on?' from parked`;
}

async function parkedCount(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from public.tasks where status = 'needs_human_review'`;
  return row?.count ?? 0;
}
