import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import {
  AGENT,
  assertAllSettled,
  assertNoDeadlock,
  inLanes,
  openRaceTrack,
  printFigures,
  sentMessageCount,
} from "./race_fixture.ts";

const WORKERS = 4;
const SLOTS = 3;
const TASKS = 300;
const LIMIT = 3;

Deno.test("tasks created while workers are idle run once each, within their owner's quota", async () => {
  await using track = await openRaceTrack({ connections: 12 });
  const { sql, store } = track;
  await sql`update private.quotas set amount = ${LIMIT} where name = 'running_tasks'`;
  const owner = await addUser(sql);
  const runs = new Map<string, number>();
  let mostAtOnce = 0;
  let createdCount = 0;

  const creating = inLanes(4, Array.from({ length: TASKS }), async (_, index) => {
    const taskId = await createThroughEndpoint(sql, index % 2 === 0 ? owner : null);
    createdCount++;
    // The next task is created when this one has begun, so that workers are sometimes idle.
    await waitFor(() => runs.has(taskId), { intervalMs: 1, what: "a worker" });
  });
  const working = inLanes(WORKERS, Array.from({ length: WORKERS }), async (_, lane) => {
    while (createdCount < TASKS || runs.size < TASKS) {
      const claimed = await store.claim(`w${lane}`, SLOTS, { offeredSlots: SLOTS });
      const [row] = await sql`
        select count(*)::int as count from public.tasks
        where status = 'running' and created_by = ${owner}::uuid`;
      mostAtOnce = Math.max(mostAtOnce, Number(row?.count));
      for (const lease of claimed) {
        runs.set(lease.taskId, (runs.get(lease.taskId) ?? 0) + 1);
        await store.finish(lease, "done", null);
      }
    }
    await store.withdrawWorker(`w${lane}`);
  });
  await Promise.all([creating, working]);

  const handedCount = TASKS - await sentMessageCount(sql);
  printFigures({ tasks: TASKS, "handed over at least": handedCount, "most at once": mostAtOnce });
  assert.equal(runs.size, TASKS);
  assert.deepEqual([...new Set(runs.values())], [1], "each task went to one worker");
  assert.ok(mostAtOnce <= LIMIT, `${mostAtOnce} tasks of the owner ran at once`);
  assert.ok(handedCount > 0, "some tasks were handed over");
  const [left] = await sql`select count(*)::int as count from private.handed_tasks`;
  assert.equal(left?.count, 0);
  await assertAllSettled(sql);
  await assertNoDeadlock(track);
});

Deno.test("a long transaction that creates a task does not block claims", async () => {
  await using track = await openRaceTrack({ connections: 3 });
  const { sql, store } = track;
  await store.claim("w1", SLOTS, { offeredSlots: SLOTS });

  await sql.begin(async (transaction) => {
    await transaction`select task_id from private.create_task(${AGENT}, '"held"')`;
    const [held] = await transaction`select status from public.tasks`;
    assert.equal(held?.status, "running", "the task is handed over at commit");
    await sql`select task_id from private.create_task(${AGENT}, '"beside"')`;

    const claimed = await store.claim("w1", SLOTS, { offeredSlots: SLOTS });
    assert.equal(claimed.length, 1, "the worker's row is locked, and its claim does not wait");
  });

  assert.equal((await store.claim("w1", SLOTS, { offeredSlots: SLOTS })).length, 1);
});

/** Creates a task like `supaswarm-create-task`, in its own transaction. */
async function createThroughEndpoint(sql: Sql, userId: string | null): Promise<string> {
  const [row] = await sql`
    select task_id
    from private.request_task(
      ${sql.json({ actor: userId === null ? "service" : "user", user_id: userId })},
      ${sql.json({ agent: AGENT, input: "now" })}, null, null)`;
  return String(row?.task_id);
}

async function addUser(sql: Sql): Promise<string> {
  const [row] = await sql`
    insert into auth.users (id, email, aud, role)
    values (gen_random_uuid(), 'owner@example.test', 'authenticated', 'authenticated')
    returning id`;
  return String(row?.id);
}
