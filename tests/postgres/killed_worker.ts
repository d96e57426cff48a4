/**
 * Started by worker_crash_test.ts: a worker in a separate process, which is killed at the
 * given moment. No handler, `finally` or buffered write of it runs afterwards.
 */
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { crashJob } from "./crash_job.ts";

const [url = "", plannerTaskId = "", lastMoment = ""] = Deno.args;
const swarm = Swarm.attach(url);
const worker = swarm.startWorker({
  ...crashJob({
    sql: swarm.sql,
    plannerTaskId,
    onMoment: (moment) => {
      if (moment === lastMoment) Deno.kill(Deno.pid, "SIGKILL");
    },
  }),
  // A worker that never reaches its moment ends normally, so the test sees that it was not killed.
  idleSeconds: 5,
});
await worker.ended;
await swarm.close();
