import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge, rounded } from "./bench_result.ts";
import { type EndlessModel, startEndlessModel } from "./endless_model.ts";
import { type Memory, startFunctionWorker } from "./worker_function.ts";
import { AGENT, openQueueDatabase, type QueueDatabase } from "./queue_database.ts";
import { mediansOf, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 3;
const TASKS = 50;
/** How long all tasks stream while the memory is measured. */
const WATCH_MS = 5_000;
const SAMPLE_EACH_MS = 250;

const NOTES = [
  `Only the worker's function, in a Deno process, ${TASKS} tasks in flight, each with a model call ` +
  "whose answer streams: the largest resident set and heap in " +
  `${WATCH_MS / 1_000} s. The resident set includes the whole runtime, which edge isolates share.`,
];

/** Measures the memory of a worker with many tasks in flight. */
export async function benchMemory(db: string): Promise<BenchResult> {
  await using database = await openQueueDatabase(db);
  await using model = startEndlessModel();
  await database
    .sql`update public.llm_providers set base_url = ${model.baseUrl} where name = 'bench'`;
  const rounds = await runRounds({ supaswarm: () => measureWorker(database, model) }, {
    bench: "memory",
    count: ROUNDS,
    before: () => database.reset(),
  });
  const names = ["rss_mib", "idle_rss_mib", "heap_mib"];
  const spreads = Object.fromEntries(
    names.map((name) => [name, spreadIn(rounds, "supaswarm", name)]),
  );
  return judge("memory", { tasks_in_flight: TASKS, ...mediansOf(spreads) }, {
    rss_mib: { max: 200 },
  }, { spreads, versions: await serverVersion(database.sql), notes: NOTES });
}

async function measureWorker(
  database: QueueDatabase,
  model: EndlessModel,
): Promise<Record<string, number>> {
  await using worker = await startFunctionWorker(database, { slots: TASKS });
  const idle = await worker.ask();
  await database.sql`
    select count(*)
    from generate_series(1, ${TASKS}::int) as n
    cross join lateral private.create_task(${AGENT}, to_jsonb('now' || n)) as created
    cross join lateral private.watch_job(created.task_id)`;
  await waitFor(() => model.openCount === TASKS, {
    timeoutMs: 60_000,
    what: `${TASKS} tasks in flight`,
  });
  const samples: Memory[] = [];
  for (let spentMs = 0; spentMs < WATCH_MS; spentMs += SAMPLE_EACH_MS) {
    samples.push(await worker.ask());
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_EACH_MS));
  }
  return {
    rss_mib: toMib(Math.max(...samples.map(({ rss }) => rss))),
    idle_rss_mib: toMib(idle.rss),
    heap_mib: toMib(Math.max(...samples.map(({ heap_used }) => heap_used))),
  };
}

function toMib(bytes: number): number {
  return rounded(bytes / 2 ** 20);
}
