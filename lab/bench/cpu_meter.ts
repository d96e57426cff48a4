import { findEdgeDeno } from "../../scripts/deploy/edge_deno.ts";
import {
  type PacedAnswer,
  type PacedModel,
  startPacedModel,
} from "../../scripts/models/paced_model.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { startFunctionWorker } from "./worker_function.ts";

interface Workload {
  readonly tasks: number;
  readonly answer: PacedAnswer;
  readonly isWatched?: boolean;
  /** @default a few words */
  readonly inputBytes?: number;
}

/** Each below the CPU at which a worker stops claiming, in an isolate of its own. */
const WORKLOADS: Readonly<Record<string, Workload>> = {
  plain: { tasks: 40, answer: { pieces: 1, gapMs: 200, turns: 1 } },
  tools: { tasks: 10, answer: { pieces: 1, gapMs: 200, turns: 6 } },
  streams: { tasks: 6, answer: { pieces: 500, gapMs: 10, turns: 1 }, isWatched: true },
  large: { tasks: 12, answer: { pieces: 1, gapMs: 200, turns: 2 }, inputBytes: 60_000 },
};
const TIMEOUT_MS = 120_000;
/** The worker logs the end of a task after it is visible. */
const SETTLE_MS = 500;
/** The meter may differ from the CPU time of the thread by this share. */
const TOLERANCE = 0.2;

const NOTES = [
  "The worker's function on the edge runtime's Deno, which does not report a thread's CPU time: " +
  "the CPU time that its meter counted, divided by what the operating system counted.",
];

/** Compares the CPU meter with the operating system, on the edge runtime's Deno. */
export async function benchCpuMeter(db: string): Promise<BenchResult> {
  await using database = await openQueueDatabase(db);
  await using model = startPacedModel({ pieces: 0, gapMs: 0, turns: 1 });
  await database
    .sql`update public.llm_providers set base_url = ${model.baseUrl} where name = 'bench'`;
  const figures: Record<string, number> = {};
  for (const [name, workload] of Object.entries(WORKLOADS)) {
    await database.reset();
    const { meter_ms: meterMs, thread_ms: threadMs } = await measure(database, model, workload);
    figures[`${name}_share`] = rounded(meterMs / threadMs);
    figures[`${name}_off`] = rounded(Math.abs(meterMs / threadMs - 1));
    figures[`${name}_cpu_ms`] = rounded(threadMs);
  }
  const targets = Object.keys(WORKLOADS).map((name) => [`${name}_off`, { max: TOLERANCE }]);
  return judge("cpu_meter", figures, Object.fromEntries(targets), { notes: NOTES });
}

async function measure(
  database: QueueDatabase,
  model: PacedModel,
  { tasks, answer, isWatched = false, inputBytes = 0 }: Workload,
) {
  model.play(answer);
  const { sql } = database;
  await sql`
    with created as materialized (
      select task.task_id
      from generate_series(1, ${tasks}::int) as n
      cross join lateral private.create_task(
        ${AGENT}, to_jsonb('task-' || n || ' ' || repeat('word ', ${inputBytes}::int / 5))) as task
    )
    select count(case when ${isWatched}::boolean then private.watch_job(task_id) end) from created`;
  await using worker = await startFunctionWorker<{ meter_ms: number; thread_ms: number }>(
    database,
    { program: "metered_worker.ts", executable: await findEdgeDeno() },
  );
  await waitFor(async () => {
    const [row] = await sql<{ open: number }[]>`
      select count(*)::int as open from public.tasks where status <> 'completed'`;
    return row?.open === 0;
  }, { timeoutMs: TIMEOUT_MS, what: `${tasks} tasks` });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  return await worker.ask();
}
