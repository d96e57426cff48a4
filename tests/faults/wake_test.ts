import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { addAgent } from "../e2e/operator.ts";
import { bootPlatform, type Platform } from "../e2e/platform.ts";
import { complete, scriptTurns } from "../e2e/script.ts";
import { readTask, untilTask } from "../e2e/task_view.ts";
import { assertConsistent, openRaceTrack } from "../postgres/race_fixture.ts";

const AGENT = "sleeper";
/** Replaces the 15 seconds of a project. */
const CRON_PERIOD_SECONDS = 2;

/** The fate of a request that wakes the worker. */
type Endpoint = "pass" | "drop" | "error";

Deno.test("a task starts whatever happens to its wake-up", async (t) => {
  await using platform = await bootPlatform({
    db: "native",
    env: { SUPASWARM_IDLE_SECONDS: "1" },
  });
  const { sql, stack: { models } } = platform;
  await addAgent(sql, { slug: AGENT });
  models.addAgent(scriptTurns(AGENT, complete("awake")));
  await using endpoint = openWakeEndpoint(platform);
  const cron = cronOf(platform);

  await t.step("while cron is paused, the wake-up is sufficient", async () => {
    await quiet(platform);
    await cron.pause();
    await endpoint.stand("pass");

    const taskId = await createTask(platform);
    await untilTask(sql, taskId, "completed");

    assert.deepEqual(endpoint.seen(), ["pass"]);
  });

  await t.step("after a lost wake-up a task starts within one period of cron", async () => {
    await quiet(platform);
    await cron.pause();
    await endpoint.stand("drop");
    const taskId = await createTask(platform);
    await waitFor(() => endpoint.seen().length === 1, { what: "the wake to be lost" });
    assert.equal((await readTask(sql, taskId)).status, "pending");

    await endpoint.stand("pass");
    const resumedAt = await cron.resume();
    await wokenByFirstTick(platform, endpoint, resumedAt);
    await untilTask(sql, taskId, "completed");
  });

  await t.step("while the worker answers 500, the task waits; then it starts", async () => {
    await quiet(platform);
    await cron.resume();
    await endpoint.stand("error");

    const taskId = await createTask(platform);
    await waitFor(() => endpoint.seen().length >= 3, { what: "three failed wake-ups" });
    const { status, attempts } = await readTask(sql, taskId);
    assert.deepEqual([status, attempts], ["pending", 0]);

    await endpoint.stand("pass");
    const task = await untilTask(sql, taskId, "completed");
    assert.equal(task.attempts, 0);
  });

  await t.step("after the request queue is lost, the next tick sends a request", async () => {
    await quiet(platform);
    await cron.pause();
    await endpoint.stand("pass");
    // pg_net's queue is unlogged: it is empty after a crash of Postgres. This simulates it.
    const [setting] = await sql<{ value: string }[]>`
      delete from private.settings where key = 'project_url' returning value`;
    const taskId = await createTask(platform);
    await sql`select private.configure_project_url(${setting?.value ?? ""})`;
    assert.deepEqual(endpoint.seen(), []);

    const resumedAt = await cron.resume();
    await wokenByFirstTick(platform, endpoint, resumedAt);
    await untilTask(sql, taskId, "completed");
  });

  await t.step("a worker with closed connections finds tasks created meanwhile", async () => {
    await quiet(platform);
    await cron.pause();
    await endpoint.stand("pass");
    await untilTask(sql, await createTask(platform), "completed");
    await endpoint.stand("drop");
    await sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where application_name like 'supaswarm-worker%'`;
    const taskId = await createTask(platform);

    await endpoint.stand("pass");
    await cron.resume();
    await untilTask(sql, taskId, "completed");
  });
});

Deno.test("without pg_net tasks are still created, claimed and finished", async () => {
  await using track = await openRaceTrack();
  const { sql, admin, store } = track;
  await sql`select private.configure_project_url('http://127.0.0.1:9')`;
  await admin`drop extension pg_net cascade`;

  const [row] = await sql`
    select task_id from private.create_task('racer', '{}'), lateral (select private.tick()) as tick`;
  const [claimed] = await store.claim("w1", 1);

  assert.ok(claimed);
  assert.equal(claimed.taskId, row?.task_id);
  await assertConsistent(sql);
  await store.wakeSuccessor();
  assert.equal(await store.finish(claimed, "done", null), "completed");
});

/** A proxy between the database and the worker's endpoint. */
function openWakeEndpoint({ sql, stack }: Platform) {
  const closing = new AbortController();
  let way: Endpoint = "pass";
  let seen: Endpoint[] = [];
  const answer = async (request: Request): Promise<Response> => {
    seen.push(way);
    if (way === "error") return new Response("boom", { status: 500 });
    // Equivalent to a loss: the caller gets an answer, and no worker is woken.
    if (way === "drop") return new Response(null, { status: 202 });
    const { pathname } = new URL(request.url);
    const { method, headers } = request;
    const body = await request.text();
    return await fetch(`${stack.apiUrl}${pathname}`, { method, headers, body });
  };
  const { signal } = closing;
  const options = { hostname: "127.0.0.1", port: 0, signal, onListen: () => {} };
  const server = Deno.serve(options, answer);
  return {
    /** Sets the new behavior; the worker announced its own address when it last ran. */
    async stand(next: Endpoint) {
      way = next;
      seen = [];
      const url = `http://127.0.0.1:${server.addr.port}`;
      await sql`select private.configure_project_url(${url})`;
      await sql`update private.wake_gate set last_wake_at = '-infinity'`;
    },
    seen: (): readonly Endpoint[] => seen,
    async [Symbol.asyncDispose]() {
      closing.abort();
      await server.finished;
    },
  };
}

function cronOf({ sql }: Platform) {
  return {
    pause: () =>
      sql`
      select cron.alter_job(jobid, active := false) from cron.job where jobname = 'supaswarm-tick'`,
    /** Returns the time of the database's clock. */
    async resume(): Promise<string> {
      const [row] = await sql`
        select clock_timestamp()::text as at,
          cron.alter_job(jobid, schedule := ${`${CRON_PERIOD_SECONDS} seconds`}, active := true)
        from cron.job where jobname = 'supaswarm-tick'`;
      return String(row?.at);
    },
  };
}

/** Waits for a wake-up, and counts the ticks until then instead of the time on a busy machine. */
async function wokenByFirstTick(
  { sql }: Platform,
  endpoint: ReturnType<typeof openWakeEndpoint>,
  resumedAt: string,
): Promise<void> {
  await waitFor(() => endpoint.seen().length > 0, { what: "a tick that wakes a worker" });
  const [row] = await sql`
    select count(*)::int as ticks from cron.job_run_details as run
    join cron.job using (jobid)
    where job.jobname = 'supaswarm-tick' and run.start_time >= ${resumedAt}::timestamptz`;
  // The next tick may begin while the request of the first is in transit.
  assert.ok(Number(row?.ticks) <= 2, `${row?.ticks} ticks until the wake-up`);
}

/** Waits until no worker is running that could find a task on its own. */
async function quiet({ logLines }: Platform): Promise<void> {
  const count = (event: string) => logLines.filter((line) => line.includes(event)).length;
  await waitFor(() => count("worker.started") === count("worker.stopped"), {
    what: "all workers to end",
  });
}

async function createTask({ sql }: Platform): Promise<string> {
  const [row] = await sql`select task_id from private.create_task(${AGENT}, '"Go"')`;
  return String(row?.task_id);
}
