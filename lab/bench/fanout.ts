import { type BenchResult, judge } from "./bench_result.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { mediansOf, runRounds, spreadIn } from "./rounds.ts";
import { complete, delegate, turnOf } from "./scripted_turns.ts";
import { serverVersion } from "./server_version.ts";

const ROUNDS = 3;
const CHILDREN = 1_000;

/**
 * Fan-out: one parent and a thousand children on a worker with the default eight slots. Measures
 * the time from the end of the last child to the start of the parent's next step: the wake-up, the
 * claim, and reading and checking a transcript of a thousand results.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchFanout(db: string): Promise<BenchResult> {
  await using measured = await startMeasuredStack(db);
  await measured.addAgent("leaf", () => complete());
  await measured.addAgent(
    "boss",
    (request) => turnOf(request) === 0 ? delegate("leaf", CHILDREN) : complete(),
  );
  const rounds = await runRounds({ supaswarm: () => fanOut(measured) }, {
    bench: "fanout",
    count: ROUNDS,
  });
  const spreads = Object.fromEntries(
    ["join_ms", "spawn_ms", "total_s"].map((name) => [name, spreadIn(rounds, "supaswarm", name)]),
  );
  return judge("fanout", { children: CHILDREN, ...mediansOf(spreads) }, { join_ms: { max: 50 } }, {
    spreads,
    versions: await serverVersion(measured.sql),
    notes: [
      "`join_ms` is measured with the database's clock, from the last child's `finished_at` to the `started_at` of the parent's next model call; `spawn_ms` from the parent's first answer to its last child's creation.",
    ],
  });
}

type FanoutRow = Readonly<Record<"join_ms" | "spawn_ms" | "total_s", number>>;

async function fanOut({ sql, createTask, untilCompleted }: MeasuredStack): Promise<FanoutRow> {
  // The thousand handoffs are steps of the parent, and the default limit is a thousand steps.
  const parentId = await createTask("boss", { budget: { max_steps: 2 * CHILDREN } });
  await untilCompleted(parentId, 300_000);
  const [row] = await sql<FanoutRow[]>`
    with child as (
      select max(finished_at) as last_end, count(*) as ended
      from public.tasks where parent_id = ${parentId}::uuid and status = 'completed'
    ),
    event as (
      select max(at) filter (where type = 'subtask.created') as last_creation
      from public.task_events where task_id = ${parentId}::uuid
    )
    select
      (1000 * extract(epoch from next.started_at - child.last_end))::float8 as join_ms,
      (1000 * extract(epoch from event.last_creation - first.ended_at))::float8 as spawn_ms,
      extract(epoch from parent.finished_at - parent.created_at)::float8 as total_s
    from public.tasks as parent
    join public.task_steps as first on first.task_id = parent.id and first.seq = 1
    join public.task_steps as next on next.task_id = parent.id and next.seq = ${CHILDREN}::int + 2
    cross join child
    cross join event
    where parent.id = ${parentId}::uuid and child.ended = ${CHILDREN}::int`;
  if (row === undefined) {
    throw new Error("Cannot measure the fan-out: some children did not complete");
  }
  return { ...row };
}
