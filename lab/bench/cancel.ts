import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge } from "./bench_result.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { mediansOf, runRounds, spreadIn } from "./rounds.ts";
import { complete, delegate, turnOf } from "./scripted_turns.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 5;
const CHILDREN = 100;
const RUNNING = 50;
const LARGE_TREE = 1_000;

/**
 * Cancel: a parent with a hundred children, half of them during a model call. Measures the time
 * from the call of `cancel_task()` until every task has ended, including those that a worker runs.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchCancel(db: string): Promise<BenchResult> {
  const never = new Promise<never>(() => {});
  await using measured = await startMeasuredStack(db, { SUPASWARM_WORKER_SLOTS: `${RUNNING}` });
  await measured.addAgent("leaf", () => never);
  for (const children of [CHILDREN, LARGE_TREE]) {
    await measured.addAgent(
      `boss-of-${children}`,
      (request) => turnOf(request) === 0 ? delegate("leaf", children) : complete(),
    );
  }
  const rounds = await runRounds({
    tree: () => cancelTree(measured, CHILDREN),
  }, { bench: "cancel", count: ROUNDS });
  const large = await runRounds({
    tree: () => cancelTree(measured, LARGE_TREE),
  }, { bench: "cancel, 1,000 children", count: 1 });
  const spreads = {
    all_ended_ms: spreadIn(rounds, "tree", "all_ended_ms"),
    call_ms: spreadIn(rounds, "tree", "call_ms"),
  };
  return judge(
    "cancel",
    {
      children: CHILDREN,
      running: RUNNING,
      ...mediansOf(spreads),
      all_ended_of_1000_ms: spreadIn(large, "tree", "all_ended_ms").median,
      call_of_1000_ms: spreadIn(large, "tree", "call_ms").median,
    },
    { all_ended_ms: { max: 1_000 } },
    {
      spreads,
      versions: await serverVersion(measured.sql),
      notes: [
        `One worker with ${RUNNING} slots. \`call_ms\` is \`cancel_task()\` itself, which ends the waiting tasks; in the rest of the time, the worker is notified, aborts its requests and ends the running tasks. \`_of_1000_\`: the same with ${LARGE_TREE} children, ${RUNNING} of them running, once.`,
      ],
    },
  );
}

async function cancelTree({ sql, createTask }: MeasuredStack, children: number) {
  const masterId = await createTask(`boss-of-${children}`, {
    budget: { max_steps: 2 * LARGE_TREE },
  });
  await waitFor(async () => {
    const [row] = await sql<{ tasks: number; asking: number; parked: number }[]>`
      select
        count(*)::int as tasks,
        count(*) filter (where task.status = 'running' and step.state = 'started')::int as asking,
        count(*) filter (where task.status = 'pending_subtask')::int as parked
      from public.tasks as task
      left join public.task_steps as step
        on step.task_id = task.id and step.seq = 1 and task.parent_id is not null
      where task.master_task_id = ${masterId}::uuid`;
    return row?.tasks === children + 1 && row.asking === RUNNING && row.parked === 1;
  }, { timeoutMs: 60_000, what: "half of the tree to run" });

  const [begun] = await sql<{ at: string }[]>`select clock_timestamp()::text as at`;
  const startMs = performance.now();
  await sql`select public.cancel_task(${masterId}::uuid)`;
  const callMs = performance.now() - startMs;
  const ended = await waitFor(async () => {
    const [row] = await sql<{ is_over: boolean; ended_ms: number }[]>`
      select
        bool_and(finished_at is not null) as is_over,
        (1000 * extract(epoch from max(finished_at) - ${begun?.at ?? ""}::timestamptz))::float8
          as ended_ms
      from public.tasks where master_task_id = ${masterId}::uuid`;
    return row?.is_over && row;
  }, { timeoutMs: 60_000, what: "the end of every task" });
  return { all_ended_ms: ended.ended_ms, call_ms: callMs };
}
