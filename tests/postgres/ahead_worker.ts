/**
 * Started by ahead_crash_test.ts: a worker in a separate process that claims quick tasks ahead of
 * its slots, and is killed while at least ten of them wait.
 */
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { AHEAD_LEASE_SECONDS } from "./ahead_lease.ts";

const [url = ""] = Deno.args;
const swarm = Swarm.attach(url);
const worker = swarm.startWorker({
  model: async ({ context: { task } }) => {
    const [row] = await swarm.sql`
      with begun as (
        insert into public.journal (task_id, is_rescue) values (${task.id}::uuid, false) returning task_id
      )
      select count(*)::int as waiting_count
      from public.tasks, begun
      where status = 'running' and ahead_epoch = epoch and id <> begun.task_id
        and id not in (select journal.task_id from public.journal)`;
    if (row?.waiting_count >= 10) Deno.kill(Deno.pid, "SIGKILL");
    return { text: "done" };
  },
  slots: 2,
  leaseSeconds: AHEAD_LEASE_SECONDS,
  // Work is fast by this clock, however busy the machine is.
  clockRate: 0.001,
  // A worker that is never killed ends normally, which the test detects.
  wallClockSeconds: 60,
});
setTimeout(() => Deno.exit(1), 30_000);
await worker.ended;
