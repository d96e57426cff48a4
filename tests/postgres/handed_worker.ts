/**
 * Started by hand_over_crash_test.ts: a listening worker in a separate process, which is
 * killed at the given moment of a task that was handed to it.
 */
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createTaskListener } from "../../shared/engine/worker/task_listener.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";

const [url = "", moment = ""] = Deno.args;
const swarm = Swarm.attach(url);
const listen = createTaskListener({
  databaseUrl: url,
  sql: swarm.sql,
  clock: isolateClock,
  log: () => {},
});
const called = Promise.withResolvers<void>();
const never = new Promise<never>(() => {});
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
    async fetchHanded(workerId) {
      const fetched = await store.fetchHanded(workerId);
      if (fetched.length > 0) dieAt("fetched");
      return fetched;
    },
    async beginHanded(lease) {
      if (moment === "called") return await never;
      await store.beginHanded(lease);
      await called.promise;
      dieAt("traced");
    },
  }),
  model: async ({ context: { task } }) => {
    await swarm.sql`insert into public.journal (task_id) values (${task.id}::uuid)`;
    dieAt("called");
    called.resolve();
    if (moment === "traced") await never;
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
