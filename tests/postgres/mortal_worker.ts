/**
 * Started by worker_crash_test.ts: a worker in a process of its own, which the kernel kills at the
 * given moment. No handler, no `finally` and no buffered write of it runs after that.
 */
import { Swarm } from "../worker/swarm_fixture.ts";
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
  // Whoever never comes to its moment ends by itself, and the test sees that it was not killed.
  idleSeconds: 5,
});
await worker.ended;
await swarm.close();
