import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { taskContext } from "../../shared/engine/agent/task_context.ts";
import type { ErrorBody } from "../../shared/platform/errors/swarm_error.ts";
import type { Lease } from "../../shared/engine/worker/task_store.ts";
import {
  assertConsistent,
  assertNoDeadlock,
  claimAll,
  createFamilies,
  createRunning,
  inLanes,
  openRaceTrack,
  printFigures,
  type RaceTrack,
  statusCounts,
} from "./race_fixture.ts";

const ROUNDS = 40;
const ERROR: ErrorBody = { code: "MODEL_UNAVAILABLE", message: "Down" };
const NEVER = { retry: "never", retryAfterSeconds: null } as const;
const BACKOFF = { retry: "backoff", retryAfterSeconds: null } as const;

/** A waiting parent with one failed child and one running child. */
interface WaitingFamily {
  readonly parent: Lease;
  readonly failed: Lease;
  readonly running: Lease;
}

Deno.test("a retry wins or is refused, whatever happens at the same moment", async (t) => {
  await using track = await openRaceTrack();
  const { sql, store } = track;

  await t.step(
    `against the parent's claim: a result that was read stays, ${ROUNDS} rounds`,
    async () => {
      const families = await createWaiting(track);
      await inLanes(8, families, ({ running }) => store.finish(running, "done", null));

      // A claim takes any parent, so they are claimed one by one during the retries.
      const claims: Promise<readonly { taskId: string; epoch: string; context: unknown }[]>[] = [];
      const retried = await inLanes(6, families, async ({ failed }) => {
        const outcome = retry(track, failed.taskId);
        claims.push(store.claim("racer", 1));
        return await outcome;
      });
      const claimed = (await Promise.all(claims)).flat();

      await assertConsistent(sql);
      const wonOf = new Map(families.map(({ parent }, index) => [parent.taskId, retried[index]]));
      const refused = retried.filter((won) => !won).length;
      printFigures({ rounds: ROUNDS, retried: ROUNDS - refused, refused });
      for (const { taskId, context } of claimed.filter(({ taskId }) => wonOf.has(taskId))) {
        const { steps } = taskContext.parse(context);
        const hasRead = steps.every(({ state }) => state !== "started");
        if (wonOf.get(taskId)) assert.ok(!hasRead, "a result was removed after it was read");
        else assert.ok(hasRead, "a result was not restored after a refusal");
      }
      await finishEverything(track, claimed);
    },
  );

  await t.step(`against the sibling's end: the parent gets both, ${ROUNDS} rounds`, async () => {
    const families = await createWaiting(track);

    const retried = await inLanes(6, families, async ({ failed, running }) => {
      const [won] = await Promise.all([
        retry(track, failed.taskId),
        store.finish(running, "done", null),
      ]);
      return won;
    });

    await assertConsistent(sql);
    assert.deepEqual(retried, families.map(() => true), "the parent has not read anything yet");
    await finishEverything(track);
    const [row] = await sql`
      select count(*)::int as count from public.task_steps
      where task_id in ${sql(families.map(({ parent }) => parent.taskId))} and state = 'done'`;
    assert.equal(row?.count, 2 * ROUNDS, "each parent has the second results");
  });

  await t.step(`against the parent's end: a retry is too late, ${ROUNDS} rounds`, async () => {
    const families = await createFamilies(track, ROUNDS, 1);
    await inLanes(
      8,
      families,
      ({ children }) => inLanes(1, children, (child) => store.fail(child, ERROR, NEVER)),
    );

    const retried = await inLanes(6, families, async ({ parent, children }) => {
      const [won, end] = await Promise.all([
        retry(track, children[0]?.taskId ?? ""),
        store.finish(parent, "done", null),
      ]);
      assert.equal(end, "completed");
      return won;
    });

    assert.deepEqual(retried, families.map(() => false));
    await assertConsistent(sql);
    assert.equal((await claimAll(store)).length, 0);
  });

  await t.step(`a redrive against a retry: one succeeds, ${ROUNDS} rounds`, async () => {
    const leases = await createRunning(track, ROUNDS);
    await sql`update public.tasks set max_attempts = 1 where status = 'running'`;
    await inLanes(8, leases, (lease) => store.fail(lease, ERROR, BACKOFF));
    const letters = new Map(
      (await sql`select id, task_id from private.dead_letters`)
        .map(({ id, task_id }) => [String(task_id), String(id)]),
    );

    const winners = await inLanes(6, leases, async ({ taskId }) => {
      const letterId = letters.get(taskId) ?? null;
      const wins = await Promise.all([
        retry(track, taskId),
        sql`select public.redrive(${letterId}::bigint)`.then(() => true, notRetryable),
      ]);
      return wins.filter((won) => won).length;
    });

    assert.deepEqual(winners, leases.map(() => 1));
    await assertConsistent(sql);
    const [row] = await sql`
      select count(*)::int as count from private.dead_letters where retried_at is null`;
    assert.equal(row?.count, 0);
    await finishEverything(track);
  });

  await t.step(`retention keeps or deletes a whole job, ${ROUNDS} rounds`, async () => {
    const leases = await createRunning(track, ROUNDS);
    await inLanes(8, leases, (lease) => store.fail(lease, ERROR, NEVER));
    await sql`
      insert into private.settings (key, value) values ('keep_jobs_days', '1')
      on conflict (key) do update set value = excluded.value`;
    await sql`
      update public.tasks set finished_at = now() - interval '2 days'
      where id in ${sql(leases.map(({ taskId }) => taskId))}`;

    const retried = await inLanes(6, leases, async ({ taskId }) => {
      const [won] = await Promise.all([
        retry(track, taskId),
        sql`select private.delete_old_jobs(1)`,
      ]);
      return { taskId, won };
    });

    await assertConsistent(sql);
    const kept = new Set((await sql`select id from public.tasks`).map(({ id }) => String(id)));
    for (const { taskId, won } of retried) assert.equal(kept.has(taskId), won);
    const pruned = retried.filter(({ won }) => !won).length;
    printFigures({ rounds: ROUNDS, retried: ROUNDS - pruned, pruned });
    assert.ok(pruned > 0 && pruned < ROUNDS, "each of the two wins sometimes");
    await finishEverything(track);
  });

  await t.step("retention keeps the files that a fork took over", async () => {
    const [lease] = await createRunning(track, 1);
    assert.ok(lease !== undefined);
    const path = `${lease.taskId}/${lease.taskId}/report.md`;
    await store.finish(lease, null, { storage_path: path });
    await sql`
      update public.tasks set finished_at = now() - interval '2 days'
      where id = ${lease.taskId}::uuid`;

    const prunings: Promise<unknown>[] = [];
    await sql.begin(async (forker) => {
      await forker`select public.fork_task(${lease.taskId}::uuid, 1)`;
      let hasPruned = false;
      prunings.push(sql`select private.delete_old_jobs(1)`.then(() => hasPruned = true));
      await waitFor(async () => {
        const waiting = await sql`
          select from pg_locks where locktype = 'advisory' and not granted`;
        return hasPruned || waiting.length === 1;
      }, { what: "retention to come as far as it can" });
    });
    await Promise.all(prunings);

    const [row] = await sql`
      select
        (select count(*) from public.tasks where id = ${lease.taskId}::uuid)::int as sources,
        (select count(*) from public.tasks where ${path} = any (storage_paths))::int as forks,
        (select count(*) from private.deleted_files where path = ${path})::int as listed`;
    assert.deepEqual({ ...row }, { sources: 0, forks: 1, listed: 0 });
    await finishEverything(track);
  });

  await t.step(`a fork against retention: a whole job or none, ${ROUNDS} rounds`, async () => {
    const leases = await createRunning(track, ROUNDS);
    await inLanes(
      8,
      leases,
      (lease) => store.finish(lease, null, { storage_path: `${lease.taskId}/f` }),
    );
    await sql`
      update public.tasks set finished_at = now() - interval '2 days'
      where id in ${sql(leases.map(({ taskId }) => taskId))}`;

    const forked = await inLanes(6, leases, async ({ taskId }) => {
      const [won] = await Promise.all([
        sql`select public.fork_task(${taskId}::uuid, 1)`.then(() => true, notRetryable),
        sql`select private.delete_old_jobs(1)`,
      ]);
      return { path: `${taskId}/f`, won };
    });

    const listed = new Set(
      (await sql`select path from private.deleted_files`).map(({ path }) => String(path)),
    );
    const kept = forked.filter(({ won }) => won).length;
    printFigures({ rounds: ROUNDS, forked: kept, pruned: ROUNDS - kept });
    for (const { path, won } of forked) assert.equal(listed.has(path), !won);
    await finishEverything(track);
  });

  await t.step("no statement was a deadlock victim", () => assertNoDeadlock(track));
});

/** Families with a parked parent, one failed child and one running child. */
async function createWaiting(track: RaceTrack): Promise<WaitingFamily[]> {
  const { store } = track;
  const families = await createFamilies(track, ROUNDS, 2);
  return await inLanes(8, families, async ({ parent, children: [failed, running] }) => {
    assert.ok(failed && running);
    await store.park(parent);
    await store.fail(failed, ERROR, NEVER);
    return { parent, failed, running };
  });
}

/** Whether the task is retried; the only allowed refusal is TASK_NOT_RETRYABLE. */
async function retry({ sql }: RaceTrack, taskId: string): Promise<boolean> {
  return await sql`select public.retry_task(${taskId}::uuid)`.then(() => true, notRetryable);
}

function notRetryable(error: { readonly detail?: string }): false {
  assert.match(String(error.detail), /^(TASK_NOT_RETRYABLE|TASK_NOT_FOUND|DEAD_LETTER_NOT_FOUND)$/);
  return false;
}

/** Runs everything to its end, as workers would: children first, then their parents. */
async function finishEverything(
  { sql, store }: RaceTrack,
  held: readonly Lease[] = [],
): Promise<void> {
  let leases = [...held];
  do {
    await inLanes(8, leases, async (lease) => {
      if (await store.park(lease) === "continue") await store.finish(lease, "done", null);
    });
    leases = await claimAll(store);
  } while (leases.length > 0);
  const { pending, running, pending_subtask } = await statusCounts(sql);
  assert.deepEqual([pending, running, pending_subtask], [undefined, undefined, undefined]);
  await assertConsistent(sql);
}
