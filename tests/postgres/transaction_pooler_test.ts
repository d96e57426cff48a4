import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { toolNamed } from "../../shared/engine/agent/agent_states.ts";
import { createTaskListener } from "../../shared/engine/worker/task_listener.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { answered, ask, Swarm, turnNumber } from "../engine/worker/swarm_fixture.ts";
import { startMigratedServer } from "./native_server.ts";
import { pgbouncerVersion, startPgbouncer } from "./pgbouncer.ts";

const TASKS = 20;
/** Calls of tools at which every connection of the pooler to the server is killed. */
const KILLS_AT_CALLS: readonly number[] = [5, 20, 45];

const version = await pgbouncerVersion();

Deno.test({
  name: version === null
    ? "SKIPPED, because pgbouncer is not installed: tasks run through a transaction pooler"
    : "tasks run through a transaction pooler, also when its connections are killed",
  ignore: version === null,
  fn: async () => {
    await using server = await startMigratedServer();
    await using pooler = await startPgbouncer(server.cluster);
    const swarm = Swarm.attach(pooler.url);
    await swarm.addAgents();
    await Promise.all(Array.from({ length: TASKS }, () => swarm.createTask()));
    const events: string[] = [];
    let callCount = 0;
    const worker = swarm.startWorker({
      slots: TASKS,
      leaseSeconds: 10,
      listen: createTaskListener({
        databaseUrl: pooler.url,
        sql: swarm.sql,
        clock: isolateClock,
        log: (_level, event) => void events.push(event),
      }),
      tools: [toolNamed("look", { isReadOnly: true })],
      callTool: async () => {
        if (KILLS_AT_CALLS.includes(++callCount)) {
          await server.admin`
            select pg_terminate_backend(pid) from pg_stat_activity
            where usename = 'postgres' and application_name <> 'supaswarm-test'`;
        }
        return answered("fine");
      },
      model: (call) => ({
        calls: turnNumber(call) < 2
          ? [ask("look", {}), ask("look", { again: true })]
          : [ask("complete_task", { output: "done" })],
      }),
    });

    // Past the pooler, because a poll may lose its connection too.
    const countCompleted = async () => {
      const [row] = await server.sql`
        select count(*)::int as count from public.tasks where status = 'completed'`;
      return row?.count;
    };
    await waitFor(async () => await countCompleted() === TASKS, {
      timeoutMs: 180_000,
      what: "the end of every task",
    });

    assert.ok(callCount >= Math.max(...KILLS_AT_CALLS));
    assert.deepEqual(events, ["worker.not_listening"], "the listener does not try");
    await worker.stop();
    await swarm.close();
  },
});
