import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { type BenchResult, judge, percentile, rounded } from "./bench_result.ts";
import { type MeasuredStack, startMeasuredStack } from "./measured_stack.ts";
import { complete } from "./scripted_turns.ts";
import { serverVersion } from "./server_version.ts";

const FLOOD = 10_000;
const DROP = 10;
const ROUNDS = 10;
const SLOW_TASKS = 150;
/** Longer than all rounds, so that no slot of the slow user becomes free. */
const SLOW_TURN_MS = 60_000;

/**
 * Fairness: ten tasks of one user beside ten thousand of another, and beside 150 slow ones,
 * compared with ten tasks on an idle platform. A wait is the time from a task's creation to its
 * claim.
 *
 * @param db `pglite`, `native` or a URL.
 */
export async function benchFairness(db: string): Promise<BenchResult> {
  await using measured = await startMeasuredStack(db);
  const { sql } = measured;
  await measured.addAgent("leaf", () => complete());
  await measured.addAgent("slow", () => slowly());
  const [flood, drop] = [await addUser(sql, "flood"), await addUser(sql, "drop")];
  const slow = await addUser(sql, "slow");
  await sql`
    insert into private.quotas (name, user_id, amount)
    select 'task_creations_per_minute', id, null from auth.users`;
  await waitsOfDrop(measured, drop);

  const idle: number[] = [];
  for (let round = 0; round < ROUNDS; round++) idle.push(...await waitsOfDrop(measured, drop));
  const slowIds: string[] = [];
  for (let n = 0; n < SLOW_TASKS; n++) {
    slowIds.push(await measured.createTask("slow", { ownerId: slow }));
  }
  const besideSlow: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    besideSlow.push(...await waitsOfDrop(measured, drop));
  }
  await sql`
    select private.cancel_task(id::uuid)
    from jsonb_array_elements_text(${sql.json(slowIds)}) as id`;

  await sql`
    select count(*)
    from generate_series(1, ${FLOOD}::int) as n,
      lateral private.create_task(
        p_agent => 'leaf',
        p_input => jsonb_build_object('n', n),
        p_created_by => ${flood}::uuid
      )`;
  const beside: number[] = [];
  for (let round = 0; round < ROUNDS; round++) beside.push(...await waitsOfDrop(measured, drop));
  const [left] = await sql<{ count: number }[]>`
    select count(*)::int as count from public.tasks
    where created_by = ${flood}::uuid and status = 'pending'`;

  const [idleP95, besideP95] = [percentile(idle, 0.95), percentile(beside, 0.95)];
  const besideSlowP95 = percentile(besideSlow, 0.95);
  return judge(
    "fairness",
    {
      flood: FLOOD,
      still_waiting_at_the_end: left?.count ?? Number.NaN,
      p95_ratio: rounded(besideP95 / idleP95),
      slow_tasks: SLOW_TASKS,
      slow_p95_ratio: rounded(besideSlowP95 / idleP95),
      beside_slow_p95_ms: rounded(besideSlowP95),
      idle_p50_ms: rounded(percentile(idle, 0.5)),
      idle_p95_ms: rounded(idleP95),
      beside_flood_p50_ms: rounded(percentile(beside, 0.5)),
      beside_flood_p95_ms: rounded(besideP95),
    },
    {
      p95_ratio: { max: 10 },
      slow_p95_ratio: { max: 10 },
      still_waiting_at_the_end: { min: 1_000 },
    },
    {
      versions: await serverVersion(sql),
      notes: [
        `${ROUNDS} rounds of ${DROP} tasks each, one after the other, on an idle platform, next to the slow tasks and next to the flood. One worker with the default eight slots, of which the other user takes as many as its quota allows.`,
      ],
    },
  );
}

/** Returns an answer like a slow model, which takes longer than the measurement. */
async function slowly() {
  await new Promise((resolve) => setTimeout(resolve, SLOW_TURN_MS));
  return complete();
}

/** Creates ten tasks one by one and waits until they have ended. */
async function waitsOfDrop({ sql, createTask }: MeasuredStack, ownerId: string): Promise<number[]> {
  const ids: string[] = [];
  for (let n = 0; n < DROP; n++) ids.push(await createTask("leaf", { ownerId }));
  return await waitFor(async () => {
    const rows = await sql<{ wait_ms: number }[]>`
      select (1000 * extract(epoch from started_at - created_at))::float8 as wait_ms
      from public.tasks
      where id in (select value::uuid from jsonb_array_elements_text(${sql.json(ids)}))
        and status = 'completed'`;
    return rows.length === DROP && rows.map(({ wait_ms }) => wait_ms);
  }, { timeoutMs: 120_000, what: "the end of ten tasks" });
}

async function addUser(sql: Sql, name: string): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    insert into auth.users (id, email, aud, role)
    values (gen_random_uuid(), ${`${name}@example.test`}, 'authenticated', 'authenticated')
    returning id`;
  if (row === undefined) throw new Error("Cannot find the created user");
  return row.id;
}
