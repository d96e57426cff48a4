import assert from "node:assert/strict";
import { surviveStrayErrors } from "../../shared/platform/isolate/survive_stray_errors.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createSqlTaskStore } from "../../shared/engine/worker/sql_task_store.ts";
import { ChaosDatabase } from "../faults/chaos/chaos_database.ts";
import { printFigures } from "./race_fixture.ts";

/** A busy machine may need so long between the claim and the crash that the claim is durable. */
const MOST_ROUNDS = 20;

Deno.test("a claim that a crash of the server undoes is made again, and the first worker is refused", async () => {
  // The Postgres client throws an error that nothing can catch when its server dies.
  surviveStrayErrors(() => {});
  await using database = await ChaosDatabase.start();
  await database.sql`
    insert into public.agents (name, slug, system_prompt) values ('claimed', 'claimed', 'You wait.')`;
  const storeNow = () =>
    createSqlTaskStore(database.sql, { leaseSeconds: 60, clock: isolateClock });

  let undone = 0;
  let rounds = 0;
  while (undone === 0 && rounds < MOST_ROUNDS) {
    rounds++;
    const [created] = await database.sql`
      select task_id from private.create_task('claimed', '"now"')`;
    const taskId = String(created?.task_id);
    const [first] = await storeNow().claim("first", 1);
    assert.equal(first?.taskId, taskId);
    await database.crashAndRestart();

    const [task] = await database.sql`select status from public.tasks where id = ${taskId}::uuid`;
    if (task?.status === "running") {
      await storeNow().finish(first, "done", null);
      continue;
    }
    undone++;
    const [second] = await storeNow().claim("second", 1);
    assert.equal(second?.taskId, taskId);
    assert.ok(BigInt(second.epoch) > BigInt(first.epoch), `${second.epoch} after ${first.epoch}`);
    await assert.rejects(
      storeNow().finish(first, "late", null),
      (error) => error instanceof SwarmError && error.code === "LEASE_LOST",
    );
    assert.equal(await storeNow().finish(second, "done", null), "completed");
  }

  printFigures({ rounds, undone });
  assert.equal(undone, 1, "no crash undid a claim");
});
