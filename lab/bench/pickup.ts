import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge } from "./bench_result.ts";
import { measureSerially, nowMs, SERIAL_TASKS } from "./measure_serially.ts";
import { startMeasuredStack } from "./measured_stack.ts";
import { installPeers, type Peers } from "./peers/install_peers.ts";
import { AGENT, openQueueDatabase } from "./queue_database.ts";
import { mediansOf, ratioIn, type Rounds, runRounds, spreadIn } from "./rounds.ts";
import { serverVersion } from "./server_version.ts";
import { startWorkerProcess, type WorkerOrder } from "./worker_process.ts";

const ROUNDS = 11;
const CONCURRENCY = 10;
const POOL_SIZE = 10;
const HANDLER_TIMEOUT_MS = 30_000;

const NOTES = [
  "From just before the statement that creates a task is sent until its worker begins it: for the product the model call, beside which the first step is recorded as started; for the peers the entry of the handler. Every worker is a separate, warm process and runs alone.",
  "`stack_…`: the same through the whole embedded platform, to the first step's row.",
];

/**
 * Pickup: one task at a time with random pauses of 20 to 50 ms, on a warm worker.
 *
 * @param db `native`, a URL, or `pglite`, where no peer can run.
 */
export async function benchPickup(db: string): Promise<BenchResult> {
  if (db === "pglite") return await benchStackAlone();
  const { rounds, versions } = await besidePeers(db, await installPeers());
  const stack = await runRounds({ stack: measureStack(db) }, { bench: "pickup", count: 1 });
  const spreads = {
    ...latenciesOf(rounds, "supaswarm", ""),
    ...latenciesOf(rounds, "graphile", "graphile_"),
    ...latenciesOf(rounds, "pgmq_poll", "pgmq_poll_"),
    p50_to_graphile: ratioIn(rounds, "p50_ms", "supaswarm", "graphile"),
    p50_to_pgmq_poll: ratioIn(rounds, "p50_ms", "supaswarm", "pgmq_poll"),
  };
  const figures = {
    tasks: ROUNDS * SERIAL_TASKS,
    ...mediansOf(spreads),
    ...mediansOf(latenciesOf(stack, "stack", "stack_")),
  };
  return judge("pickup", figures, {
    p50_to_graphile: { max: 1.3 },
    p50_to_pgmq_poll: { max: 0.2 },
  }, { spreads, versions, notes: NOTES });
}

/** PGlite has one session, so no peer can listen or poll beside the product's worker. */
async function benchStackAlone(): Promise<BenchResult> {
  const rounds = await runRounds({ stack: measureStack("pglite") }, { bench: "pickup", count: 1 });
  const figures = { tasks: SERIAL_TASKS, ...mediansOf(latenciesOf(rounds, "stack", "")) };
  return judge("pickup", figures, { p50_ms: { max: 250 } }, { notes: ["No peer runs on PGlite."] });
}

async function besidePeers(db: string, peers: Peers) {
  await using database = await openQueueDatabase(db);
  const { sql, url } = database;
  await sql`select pgmq.create('bench_poll')`;
  const beside =
    (system: WorkerOrder["system"], enqueue: () => PromiseLike<unknown>) => async () => {
      const order = { system, url, concurrency: CONCURRENCY, poolSize: POOL_SIZE, marks: null };
      await using worker = await startWorkerProcess(order, peers);
      return await measureSerially(async () => {
        const sentAtMs = nowMs();
        await enqueue();
        return (await worker.next(HANDLER_TIMEOUT_MS)).at_ms - sentAtMs;
      });
    };
  const rounds = await runRounds({
    // No statement has parameters, because a connection that prepares nothing would ask for their
    // types first.
    supaswarm: beside(
      "supaswarm",
      () => sql`select task_id from private.create_task('bench', '"now"')`,
    ),
    graphile: beside("graphile", () => sql`select graphile_worker.add_job('noop', '{}')`),
    pgmq_poll: beside("pgmq_poll", () => sql`select pgmq.send('bench_poll', '{}')`),
  }, { bench: "pickup", count: ROUNDS, before: () => database.reset() });
  const { "graphile-worker": graphile = "" } = peers.versions;
  return { rounds, versions: { ...await serverVersion(sql), "graphile-worker": graphile } };
}

/** Measures gateway, isolates and scripted model together, as `deno task start` runs them. */
function measureStack(db: string) {
  return async () => {
    await using measured = await startMeasuredStack(db);
    const { sql } = measured;
    await measured.addAgent(AGENT, () => ({
      toolCalls: [{ name: "complete_task", arguments: { output: "done" } }],
    }));
    return await measureSerially(async () => {
      const sentAtMs = nowMs();
      const taskId = await measured.createTask(AGENT);
      const startedAtMs = await waitFor(async () => {
        const [row] = await sql<{ started_at_ms: number }[]>`
          select extract(epoch from step.started_at)::float8 * 1000 as started_at_ms
          from public.tasks as task
          join public.task_steps as step on step.task_id = task.id and step.seq = 1
          where task.id = ${taskId} and task.status = 'completed'`;
        return row?.started_at_ms;
      }, { timeoutMs: HANDLER_TIMEOUT_MS, what: "the end of a task" });
      return startedAtMs - sentAtMs;
    });
  };
}

function latenciesOf(rounds: Rounds, system: string, prefix: string) {
  const names = ["p50_ms", "p95_ms", "p99_ms"];
  return Object.fromEntries(
    names.map((name) => [`${prefix}${name}`, spreadIn(rounds, system, name)]),
  );
}
