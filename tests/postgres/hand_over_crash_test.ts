import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import type { Sql } from "../../shared/db/sql_client.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { Swarm } from "../worker/swarm_fixture.ts";
import { startMigratedServer } from "./native_server.ts";
import { assertAllSettled, printFigures } from "./race_fixture.ts";

const WORKER = new URL("handed_worker.ts", import.meta.url).pathname;

const KILLS = 4;
const TASKS_A_KILL = 8;

/** The state of a task whose worker is killed at that moment. */
const CRASHES = [
  { moment: "notified", calls: 1, estimates: 0 },
  // It is unknown whether the call was made, so an estimate is recorded.
  { moment: "fetched", calls: 1, estimates: 1 },
  { moment: "called", calls: 2, estimates: 1 },
];

Deno.test("a task handed to a worker survives the worker's death at any moment", async (t) => {
  await using server = await startMigratedServer();
  const { sql } = server;
  await sql`create table public.journal (task_id uuid not null)`;
  const swarm = Swarm.attach(server.cluster.url);
  await swarm.addAgents();

  for (const { moment, calls, estimates } of CRASHES) {
    await t.step(
      `killed when it had ${moment === "notified" ? "been " : ""}${moment}`,
      async () => {
        const dying = startHandedWorker(server.cluster.url, moment);
        await waitFor(async () => {
          const [row] = await sql`
          select from private.idle_workers where seen_at > clock_timestamp() - interval '1 second'`;
          return row !== undefined;
        }, { what: "a worker that offers its slots" });
        const taskId = await swarm.createTask();
        const [handed] = await sql`
        select message_id, epoch::int from public.tasks where id = ${taskId}::uuid`;
        assert.deepEqual({ ...handed }, { message_id: null, epoch: 1 }, "the task was handed over");
        assert.equal((await dying.status).signal, "SIGKILL");

        const rescuer = swarm.startWorker({
          model: async ({ context: { task } }) => {
            await sql`insert into public.journal (task_id) values (${task.id}::uuid)`;
            return { text: "done" };
          },
        });
        const task = await swarm.until(taskId, "completed");
        await rescuer.stop();

        assert.equal(task.attempts, 0);
        const [seen] = await sql`
        select
          (select count(*)::int from public.journal where task_id = ${taskId}::uuid) as calls,
          (
            select count(*)::int from public.usage_events
            where task_id = ${taskId}::uuid and is_estimate
          ) as estimates,
          (select count(*)::int from public.task_steps where task_id = ${taskId}::uuid) as steps`;
        assert.deepEqual({ ...seen }, { calls, estimates, steps: 1 });
        await sql`delete from private.idle_workers`;
        await assertAllSettled(sql);
      },
    );
  }

  await t.step(
    "tasks that are created while workers are killed again and again all end",
    async () => {
      const taskIds: string[] = [];
      let handedCount = 0;
      for (let kills = 0; kills < KILLS; kills++) {
        const doomed = startHandedWorker(server.cluster.url, "never");
        await untilOffered(sql);
        for (let count = 0; count < TASKS_A_KILL; count++) {
          const taskId = await swarm.createTask();
          taskIds.push(taskId);
          const [task] = await sql`select message_id from public.tasks where id = ${taskId}::uuid`;
          if (task?.message_id === null) handedCount++;
          if (count === kills) doomed.kill("SIGKILL");
        }
        await doomed.status;
        await sql`select private.reconcile()`;
      }
      const rescuer = swarm.startWorker({ model: () => ({ text: "done" }) });
      for (const taskId of taskIds) await swarm.until(taskId, "completed");
      await rescuer.stop();

      printFigures({ kills: KILLS, tasks: taskIds.length, "handed over at least": handedCount });
      assert.ok(handedCount >= KILLS, "tasks were handed over, to dead workers, too");
      const [run] = await sql`
      select count(*)::int as not_ended_by_one_step from public.tasks as task
      where 1 <> (select count(*) from public.task_steps where task_id = task.id and state = 'done')`;
      assert.equal(run?.not_ended_by_one_step, 0);
      await assertAllSettled(sql);
    },
  );
  await swarm.close();
});

/** Waits until some worker offers its slots for new tasks. */
async function untilOffered(sql: Sql): Promise<void> {
  await waitFor(async () => {
    const [row] = await sql`
      select from private.idle_workers where seen_at > clock_timestamp() - interval '1 second'`;
    return row !== undefined;
  }, { what: "a worker that offers its slots" });
}

function startHandedWorker(url: string, moment: string): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", WORKER, url, moment],
    cwd: PROJECT_ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn();
}
