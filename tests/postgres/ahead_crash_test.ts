import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { Swarm } from "../worker/swarm_fixture.ts";
import { AHEAD_LEASE_SECONDS } from "./ahead_lease.ts";
import { startMigratedServer } from "./native_server.ts";
import { assertAllSettled } from "./race_fixture.ts";

const WORKER = new URL("ahead_worker.ts", import.meta.url).pathname;
const TASKS = 60;

Deno.test("a worker that is killed with tasks claimed ahead charges none of them", async (t) => {
  await using server = await startMigratedServer();
  const { sql } = server;
  await sql`create table public.journal (task_id uuid not null)`;
  const swarm = Swarm.attach(server.cluster.url);
  await swarm.addAgents();
  for (let count = 0; count < TASKS; count++) await swarm.createTask();

  const { signal } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", WORKER, server.cluster.url],
    cwd: PROJECT_ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  assert.equal(signal, "SIGKILL");
  const lost = await sql`
    select id, deliveries, ahead_epoch = epoch as is_ahead,
      id in (select task_id from public.journal) as has_begun,
      lease_expires_at - clock_timestamp() <= make_interval(secs => ${AHEAD_LEASE_SECONDS}) as is_soon_free
    from public.tasks where status = 'running'`;

  await t.step("they wait for the end of one lease", () => {
    assert.ok(lost.filter(({ has_begun }) => !has_begun).length >= 10);
    assert.ok(lost.every(({ is_soon_free }) => is_soon_free));
  });

  const rescuer = swarm.startWorker({
    model: async ({ context: { task } }) => {
      await sql`insert into public.journal (task_id) values (${task.id}::uuid)`;
      return { text: "done" };
    },
  });
  for (const { id } of await sql`select id from public.tasks`) {
    await swarm.until(String(id), "completed");
  }
  await rescuer.stop();

  await t.step("each runs once, those that had begun once more", async () => {
    const runs = await sql`
      select task.id, count(*)::int as run_count
      from public.tasks as task join public.journal on journal.task_id = task.id group by task.id`;
    const begun = new Set(lost.filter(({ has_begun }) => has_begun).map(({ id }) => id));
    assert.equal(runs.length, TASKS);
    for (const { id, run_count } of runs) assert.equal(run_count, begun.has(id) ? 2 : 1);
  });

  await t.step("no claim that was lost counts as a delivery", async () => {
    const lostAhead = lost.filter(({ is_ahead }) => is_ahead).map(({ id }) => id);
    const deliveries = await sql`
      select distinct (event.payload -> 'deliveries')::int as count
      from public.task_events as event
      join jsonb_array_elements_text(${
      sql.json(lostAhead)
    }) as lost on lost.value::uuid = event.task_id
      where event.type in ('task.started', 'task.resumed')
      order by count`;
    assert.deepEqual(deliveries.map(({ count }) => count), [0, 1]);
    await assertAllSettled(sql);
  });
  await swarm.close();
});
