import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import { createTaskListener } from "../../shared/engine/worker/task_listener.ts";
import { createTasks, openRaceTrack } from "./race_fixture.ts";

Deno.test("a listener is notified of created tasks and of its reconnection", async () => {
  await using track = await openRaceTrack({ connections: 2 });
  const { sql, store, admin } = track;
  const [server] = await admin<{ url: string }[]>`
    select format('postgresql://127.0.0.1:%s/postgres', inet_server_port()) as url`;
  assert.ok(server);
  const events: string[] = [];
  let heardCount = 0;
  const stop = new AbortController();
  const { user, pass } = sql.options as unknown as { user: string; pass: string };
  const databaseUrl = server.url.replace("//", `//${user}:${pass}@`);
  const listening = createTaskListener({
    databaseUrl,
    sql,
    clock: isolateClock,
    log: (_level, event) => void events.push(event),
  })({ workerId: "w", onHint: () => heardCount++ }, stop.signal);
  await waitFor(() => events.includes("worker.listening"));

  const [itself] = await sql`
    select from pg_prepared_statements where statement like '%pg_prepared_statements%'`;
  assert.ok(itself, "a listener has its own session, so statements are prepared");

  // A worker that finds nothing opens the gate again, so no debounce delays these tasks.
  for (let n = 1; n <= 3; n++) {
    await createTasks(sql, 1);
    await waitFor(() => heardCount === n, { what: `the notification of task ${n}` });
    assert.equal((await store.claim("w", 10)).length, 1);
  }

  await admin`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'supaswarm-worker listener'`;
  await waitFor(() => heardCount === 4, { what: "the check after the reconnection" });

  stop.abort();
  await listening;
  // The server ends a closed session in its own time.
  await waitFor(async () => {
    const [left] = await admin`
      select count(*)::int as count from pg_stat_activity
      where application_name = 'supaswarm-worker listener'`;
    return left?.count === 0;
  }, { what: "the end of every connection" });
});

Deno.test("a new task notifies nobody while the gate is closed", async () => {
  await using track = await openRaceTrack({ connections: 2 });
  const { sql, admin } = track;
  // As after a notification, however much time passes until the task is created.
  const [before] = await admin`
    update private.wake_gate set last_wake_at = clock_timestamp() + interval '1 hour'
    where name = 'supaswarm_tasks'
    returning last_wake_at`;

  await createTasks(sql, 1);

  const [after] =
    await admin`select last_wake_at from private.wake_gate where name = 'supaswarm_tasks'`;
  assert.deepEqual(after, before, "the task found the gate closed");
});

Deno.test("a listener behind a transaction pooler reports it and does not try", async () => {
  const databaseUrl = "postgresql://nobody@127.0.0.1:1/none?pgbouncer=true";
  const sql = createSql(databaseUrl, { maxConnections: 1, applicationName: "pooled" });
  const events: string[] = [];
  const sleep = () => Promise.reject(new Error("it waits for a notification"));

  await createTaskListener({
    databaseUrl,
    sql,
    clock: { ...isolateClock, sleep },
    log: (_level, event) => void events.push(event),
  })({ workerId: "w", onHint: () => {} }, new AbortController().signal);

  assert.deepEqual(events, ["worker.not_listening"]);
});

Deno.test("a listener without notifications reports it once and tries again later", async () => {
  // Simulates a transaction pooler: the test notification never arrives.
  const mute = createSql("postgresql://nobody@127.0.0.1:1/none", {
    maxConnections: 1,
    applicationName: "mute",
  });
  const events: string[] = [];
  const pausesMs: number[] = [];
  const stop = new AbortController();
  await createTaskListener({
    databaseUrl: "postgresql://nobody@127.0.0.1:1/none",
    sql: mute,
    clock: {
      ...isolateClock,
      sleep(ms) {
        pausesMs.push(ms);
        if (pausesMs.filter((pauseMs) => pauseMs === 30_000).length === 2) stop.abort();
        return Promise.resolve();
      },
    },
    log: (_level, event) => void events.push(event),
  })({ workerId: "w", onHint: () => {} }, stop.signal);
  await mute.end({ timeout: 1 });

  assert.deepEqual(events, ["worker.not_listening"]);
});
