import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createTaskListener } from "../../shared/engine/worker/task_listener.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { assertAllSettled } from "./race_fixture.ts";
import { startMigratedServer } from "./native_server.ts";

Deno.test("every listening worker immediately stops the tasks of a cancelled job", async () => {
  await using server = await startMigratedServer();
  const swarm = Swarm.attach(server.cluster.url);
  await swarm.addAgents();
  let listeningCount = 0;
  let askedCount = 0;
  let abortedCount = 0;
  const workers = Array.from({ length: 2 }, () =>
    swarm.startWorker({
      slots: 1,
      // No heartbeat of its own reports the cancellation.
      leaseSeconds: 600,
      heartbeatSeconds: 300,
      model: ({ signal }) =>
        new Promise((_, reject) => {
          askedCount++;
          signal.addEventListener("abort", () => {
            abortedCount++;
            reject(signal.reason);
          });
        }),
      listen: createTaskListener({
        databaseUrl: server.cluster.url,
        sql: swarm.sql,
        clock: isolateClock,
        log: (_level, event) => {
          if (event === "worker.listening") listeningCount++;
        },
      }),
    }));
  await waitFor(() => listeningCount === workers.length, { what: "workers that listen" });
  const [cancelled, spared] = [await swarm.createTask(), await swarm.createTask()];
  await waitFor(() => askedCount === workers.length, { what: "two calls of the model" });

  await swarm.sql`select public.cancel_task(${cancelled}::uuid)`;
  await swarm.until(cancelled, "cancelled");
  assert.equal(abortedCount, 1);
  assert.equal((await swarm.task(spared)).status, "running", "another job keeps running");

  await swarm.sql`select public.cancel_task(${spared}::uuid)`;
  await swarm.until(spared, "cancelled");
  assert.equal(abortedCount, 2);
  await Promise.all(workers.map((worker) => worker.stop()));
  await assertAllSettled(swarm.sql);
  await swarm.close();
});
