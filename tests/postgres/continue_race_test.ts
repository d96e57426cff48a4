import assert from "node:assert/strict";
import { toSwarmError } from "../../shared/platform/db/to_swarm_error.ts";
import { assertConsistent, createRunning, inLanes, openRaceTrack } from "./race_fixture.ts";

const ROUNDS = 40;

Deno.test("of two concurrent messages that continue a task, one wins", async () => {
  await using track = await openRaceTrack();
  const { sql, store } = track;
  const leases = await createRunning(track, ROUNDS);
  await inLanes(8, leases, (lease) => store.finish(lease, "done", null));

  const outcomes = await inLanes(
    8,
    leases,
    ({ taskId }) =>
      Promise.all(["one", "two"].map(async (input) => {
        try {
          await sql`select public.continue_task(${taskId}::uuid, ${sql.json(input)})`;
          return "won";
        } catch (error) {
          const { code, status } = toSwarmError(error, "continue the task");
          return `${code} ${status}`;
        }
      })),
  );

  for (const outcome of outcomes) {
    assert.deepEqual(outcome.sort(), ["TASK_NOT_CONTINUABLE 409", "won"]);
  }
  await assertConsistent(sql);
  const [row] = await sql`
    select count(*)::int as messages, count(distinct task_id)::int as tasks
    from public.task_steps where kind = 'user'`;
  assert.deepEqual([row?.messages, row?.tasks], [ROUNDS, ROUNDS]);
});
