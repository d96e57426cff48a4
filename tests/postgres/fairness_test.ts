import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { pagesOf } from "./pages_of.ts";
import {
  AGENT,
  assertAllSettled,
  createTasks,
  inLanes,
  openRaceTrack,
  printFigures,
  type RaceTrack,
} from "./race_fixture.ts";

const SLOTS = 4;
const FLOOD = 2_000;
const DROP = 10;

for (const priority of ["normal", "high"] as const) {
  Deno.test(`Ten tasks of one owner start immediately next to two thousand of another, ${priority} ones`, async () => {
    await using track = await openRaceTrack();
    const [flood, drop] = [await addUser(track.sql, "flood"), await addUser(track.sql, "drop")];
    await createTasksOf(track.sql, flood, FLOOD, priority);
    // The other owner's tasks have every slot when the ten arrive.
    const running = await Promise.all(
      Array.from({ length: SLOTS }, () => track.store.claim("w", 1)),
    );
    const late = new Set(await createTasksOf(track.sql, drop, DROP));

    const claimed: string[] = [];
    const waiting = new Set(late);
    await inLanes(SLOTS, running.map(([held]) => held), async (held) => {
      while (held !== undefined && waiting.size > 0) {
        await track.store.finish(held, "done", null);
        [held] = await track.store.claim("w", 1);
        if (held === undefined) continue;
        claimed.push(held.taskId);
        waiting.delete(held.taskId);
      }
    });

    const lastPlace = claimed.findLastIndex((id) => late.has(id)) + 1;
    printFigures({ flood: FLOOD, drop: DROP, "place of the last of the ten": lastPlace });
    // Strict turns would make it the 20th; equals are drawn at random, and slots overlap.
    assert.ok(lastPlace <= 6 * DROP, `the last of the ten was claimed as number ${lastPlace}`);
  });
}

Deno.test("The cost of a claim does not depend on the length of the queue", async () => {
  await using track = await openRaceTrack();
  const owner = await addUser(track.sql, "owner");
  await createTasksOf(track.sql, owner, 40);
  await medianClaimPages(track, 20);
  const short = await medianClaimPages(track, 20);
  await createTasksOf(track.sql, owner, FLOOD);
  const long = await medianClaimPages(track, 20);
  printFigures({ "pages with 20 waiting": short, [`pages with ${FLOOD} waiting`]: long });
  assert.ok(long <= 2 * short, `${long} pages against ${short}`);
});

Deno.test("The cost of a claim does not depend on the number of running tasks of others", async () => {
  await using track = await openRaceTrack();
  const { sql } = track;
  const owners = await Promise.all(
    Array.from({ length: 20 }, (_, index) => addUser(sql, `waiting${index}`)),
  );
  for (const owner of owners) await createTasksOf(sql, owner, 2);
  await pagesOfTurns(sql);
  const fewPages = await pagesOfTurns(sql);

  await sql`
    with owner as (
      insert into auth.users (id)
      select md5('running' || n)::uuid from generate_series(1, 500) as n
      returning id
    )
    insert into public.tasks (
      id, master_task_id, input, created_by, status, epoch, worker_id, lease_expires_at
    )
    select task.id, task.id, '{}', owner.id, 'running', 1, 'w', now() + interval '1 hour'
    from owner
    cross join lateral (
      select md5(owner.id::text || n)::uuid as id from generate_series(1, 10) as n
    ) as task`;
  const manyPages = await pagesOfTurns(sql);

  printFigures({ "pages with none running": fewPages, "pages with 5,000 running": manyPages });
  assert.ok(manyPages <= 1.5 * fewPages, `${manyPages} pages against ${fewPages}`);
});

Deno.test("Concurrent claims start no more tasks than a limit allows", async () => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  await sql`update private.quotas set amount = 3 where name = 'running_tasks'`;
  const owner = await addUser(sql, "owner");
  await createTasksOf(sql, owner, 60);
  await createTasks(sql, 20);

  let mostAtOnce = 0;
  await inLanes(8, Array.from({ length: 8 }), async (_, lane) => {
    for (let idle = 0; idle < 5;) {
      const tasks = await store.claim(`w${lane}`, 4);
      idle = tasks.length === 0 ? idle + 1 : 0;
      const [row] = await sql`
        select count(*)::int as count from public.tasks
        where status = 'running' and created_by = ${owner}::uuid`;
      mostAtOnce = Math.max(mostAtOnce, Number(row?.count));
      for (const task of tasks) await store.finish(task, "done", null);
    }
  });
  printFigures({ "limit": 3, "most at once": mostAtOnce });
  assert.ok(mostAtOnce <= 3, `${mostAtOnce} ran concurrently`);
  await finishAll(track);
  await assertAllSettled(sql);
});

async function finishAll({ store }: RaceTrack): Promise<void> {
  while (true) {
    const tasks = await store.claim("last", 50);
    if (tasks.length === 0) return;
    for (const task of tasks) await store.finish(task, "done", null);
  }
}

/**
 * Claims one task per call, that many times, and leaves them running. Returns the median of the
 * pages read, which do not depend on the machine's load.
 */
async function medianClaimPages({ sql }: RaceTrack, count: number): Promise<number> {
  const pages: number[] = [];
  for (let n = 0; n < count; n++) {
    pages.push(await pagesOf(sql, "select * from private.claim_tasks('timed', 1, 60, true)"));
  }
  return pages.sort((a, b) => a - b)[Math.floor(count / 2)] ?? 0;
}

async function addUser(sql: Sql, name: string): Promise<string> {
  const [row] = await sql`
    insert into auth.users (id, email, aud, role)
    values (gen_random_uuid(), ${`${name}@example.test`}, 'authenticated', 'authenticated')
    returning id`;
  return String(row?.id);
}

async function createTasksOf(
  sql: Sql,
  owner: string,
  count: number,
  priority = "normal",
): Promise<string[]> {
  const rows = await sql`
    select created.task_id
    from generate_series(1, ${count}::int) as n,
      lateral private.create_task(
        ${AGENT}, jsonb_build_object('n', n), ${owner}::uuid, p_priority => ${priority}
      ) as created`;
  return rows.map(({ task_id }) => String(task_id));
}

/** The pages read to choose the next owner. */
async function pagesOfTurns(sql: Sql): Promise<number> {
  return await pagesOf(sql, "select * from private.next_tasks(8, true, true, false)");
}
