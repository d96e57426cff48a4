import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { Swarm } from "../worker/swarm_fixture.ts";
import { startMigratedServer } from "./native_server.ts";
import { assertAllSettled } from "./race_fixture.ts";

const WORKER = new URL("handed_worker.ts", import.meta.url).pathname;

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
        assert.equal((await dying).signal, "SIGKILL");

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
  await swarm.close();
});

async function startHandedWorker(url: string, moment: string): Promise<Deno.CommandStatus> {
  return await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", WORKER, url, moment],
    cwd: PROJECT_ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).spawn().status;
}
