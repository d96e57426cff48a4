import assert from "node:assert/strict";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { Swarm } from "../engine/worker/swarm_fixture.ts";
import { AHEAD_LEASE_SECONDS } from "./ahead_lease.ts";
import { startMigratedServer } from "./native_server.ts";
import { assertAllSettled } from "./race_fixture.ts";

const WORKER = new URL("ahead_worker.ts", import.meta.url).pathname;
const TASKS = 60;

Deno.test("a worker that is killed with tasks claimed ahead charges none of them", async (t) => {
  await using server = await startMigratedServer();
  const { sql } = server;
  await sql`create table public.journal (task_id uuid not null, is_rescue boolean not null)`;
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

  await t.step("the tasks wait for the end of one lease", () => {
    assert.ok(lost.filter(({ has_begun }) => !has_begun).length >= 10);
    assert.ok(lost.every(({ is_soon_free }) => is_soon_free));
  });

  const rescuer = swarm.startWorker({
    model: async ({ context: { task } }) => {
      await sql`insert into public.journal (task_id, is_rescue) values (${task.id}::uuid, true)`;
      return { text: "done" };
    },
  });
  for (const { id } of await sql`select id from public.tasks`) {
    await swarm.until(String(id), "completed");
  }
  await rescuer.stop();

  await t.step("each task runs once, and the started ones once more", async () => {
    const runs = await sql`
      select count(*) filter (where is_rescue)::int as rescue_count,
        count(*) filter (where not is_rescue)::int as begun_count
      from public.journal group by task_id`;
    assert.equal(runs.length, TASKS);
    for (const { rescue_count, begun_count } of runs) {
      assert.ok(rescue_count <= 1 && begun_count <= 1, JSON.stringify(runs));
    }
  });

  await t.step("a lost claim does not count as a delivery", async () => {
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
