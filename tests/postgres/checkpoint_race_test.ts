import assert from "node:assert/strict";
import { assertNoDeadlock, createRunning, modelResult, openRaceTrack } from "./race_fixture.ts";

Deno.test("a task that another session holds delays no other checkpoint of its worker", async () => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  const [held, ...others] = await createRunning(track, 4);
  assert.ok(held);
  const isRecorded = async (taskId: string) =>
    (await sql`select from public.task_steps where task_id = ${taskId}::uuid`).length === 1;

  let blocked: Promise<unknown> = Promise.resolve();
  await sql.begin(async (holder) => {
    await holder`select from public.tasks where id = ${held.taskId}::uuid for no key update`;
    blocked = store.record(held, [modelResult(1, "late")], []);
    await Promise.all(others.map((lease) => store.record(lease, [modelResult(1, "in time")], [])));

    for (const { taskId } of others) assert.ok(await isRecorded(taskId));
    assert.ok(!await isRecorded(held.taskId));
  });

  await blocked;
  assert.ok(await isRecorded(held.taskId));
  await assertNoDeadlock(track);
});
