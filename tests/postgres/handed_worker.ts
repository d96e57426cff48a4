/**
 * Started by hand_over_crash_test.ts: a listening worker in a separate process, which is
 * killed at the given moment of a task that was handed to it.
 */
import { isolateClock } from "../../shared/isolate/clock.ts";
import { createTaskListener } from "../../shared/worker/task_listener.ts";
import { Swarm } from "../worker/swarm_fixture.ts";

const [url = "", moment = ""] = Deno.args;
const swarm = Swarm.attach(url);
const listen = createTaskListener({
  databaseUrl: url,
  sql: swarm.sql,
  clock: isolateClock,
  log: () => {},
});
const worker = swarm.startWorker({
  listen: (listener, signal) =>
    listen({
      ...listener,
      onHint: (hint) => {
        if (hint === "handed") dieAt("notified");
        listener.onHint(hint);
      },
    }, signal),
  store: (store) => ({
    ...store,
    async claim(workerId, limit, options) {
      const claimed = await store.claim(workerId, limit, options);
      if (claimed.length > 0) dieAt("fetched");
      return claimed;
    },
  }),
  model: async ({ context: { task } }) => {
    await swarm.sql`insert into public.journal (task_id) values (${task.id}::uuid)`;
    dieAt("called");
    return { text: "done" };
  },
  leaseSeconds: 2,
  heartbeatSeconds: 1,
});
// A worker that is never killed ends normally, which the test detects.
setTimeout(() => Deno.exit(1), 30_000);
await worker.ended;

function dieAt(reached: string): void {
  if (reached === moment) Deno.kill(Deno.pid, "SIGKILL");
}
