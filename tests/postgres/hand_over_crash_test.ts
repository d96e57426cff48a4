import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { StopReason } from "../../shared/engine/work/stop_reason.ts";
import { createTaskListener } from "../../shared/engine/worker/task_listener.ts";
import { waitFor } from "../../scripts/wait_for.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { startMigratedServer } from "./native_server.ts";
import { assertAllSettled, endLeases, printFigures } from "./race_fixture.ts";

const WORKER = new URL("handed_worker.ts", import.meta.url).pathname;

const KILLS = 4;
const TASKS_A_KILL = 8;

/** The state of a task whose worker is killed at that moment. */
const CRASHES = [
  { moment: "notified", calls: 1, estimates: 0 },
  { moment: "fetched", calls: 1, estimates: 0 },
  // The call began before its step was written, so nothing shows that it was made.
  { moment: "called", calls: 2, estimates: 0 },
  { moment: "traced", calls: 2, estimates: 1 },
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
        await endLeases(sql);

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
        await assertTraceIsOrdered(sql, taskId);
        await sql`delete from private.idle_workers`;
        await assertAllSettled(sql);
      },
    );
  }

  await t.step(
    "a trace that cannot be written ends the run, and its call is not booked",
    async () => {
      const aborted = Promise.withResolvers<unknown>();
      let isFirst = true;
      const failing = swarm.startWorker({
        listen: createTaskListener({
          databaseUrl: server.cluster.url,
          sql: swarm.sql,
          clock: isolateClock,
          log: () => {},
        }),
        store: (store) => ({
          ...store,
          beginHanded: () =>
            Promise.reject(
              new SwarmError("DATABASE_UNAVAILABLE", "Cannot begin: it does not respond", {
                hint: "Try again.",
              }),
            ),
        }),
        model: async ({ context: { task }, signal }) => {
          await sql`insert into public.journal (task_id) values (${task.id}::uuid)`;
          if (!isFirst) return { text: "done" };
          isFirst = false;
          if (!signal.aborted) {
            await new Promise((resolve) => signal.addEventListener("abort", resolve));
          }
          aborted.resolve(signal.reason);
          throw signal.reason;
        },
        leaseSeconds: 2,
        heartbeatSeconds: 1,
      });
      await untilOffered(sql);
      const taskId = await swarm.createTask();

      const reason = await aborted.promise;
      assert.ok(reason instanceof StopReason && reason.kind === "lost");
      const task = await swarm.until(taskId, "completed");
      await failing.stop();

      assert.equal(task.attempts, 0);
      const [seen] = await sql`
      select
        (select count(*)::int from public.journal where task_id = ${taskId}::uuid) as calls,
        (select count(*)::int from public.usage_events where task_id = ${taskId}::uuid) as booked`;
      assert.deepEqual({ ...seen }, { calls: 2, booked: 1 });
      await assertTraceIsOrdered(sql, taskId);
      await sql`delete from private.idle_workers`;
      await assertAllSettled(sql);
    },
  );

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
        await endLeases(sql);
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

/** The creation and the first claim come first, each once, and a call begins before it ends. */
async function assertTraceIsOrdered(sql: Sql, taskId: string): Promise<void> {
  const events = await sql`
    select type from public.task_events where task_id = ${taskId}::uuid order by id`;
  const types = events.map(({ type }) => String(type));
  assert.deepEqual(types.slice(0, 2), ["task.created", "task.started"]);
  assert.deepEqual(types.slice(-2), ["model.completed", "task.completed"]);
  assert.ok(types.includes("model.started"));
  assert.equal(new Set(types).size, types.length, types.join());
}

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
