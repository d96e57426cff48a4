import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { asRole, startNativeServer } from "./native_server.ts";

const DENIED = { code: "42501" };

Deno.test("pg_net behaves like 0.20.4", async (t) => {
  await using server = await startNativeServer();
  const { sql } = server;
  await sql`create extension pg_net`;

  await t.step("http_post() queues one JSON request and returns its id", async () => {
    const [row] = await sql`
      select net.http_post('http://host/x?a=1', '{"n": 1}', '{"e k": "1&2"}') as id`;

    const [request] = await sql`
      select id, method, url, headers, convert_from(body, 'utf8') as body, timeout_milliseconds
      from net.http_request_queue`;
    assert.deepEqual({ ...request }, {
      id: row?.id,
      method: "POST",
      url: "http://host/x?a=1&e%20k=1%262",
      headers: { "Content-Type": "application/json" },
      body: '{"n": 1}',
      timeout_milliseconds: 5000,
    });
  });

  await t.step("a content type is added, and any type other than JSON is refused", async () => {
    await sql`select net.http_post('http://host', headers => '{"apikey": "k"}')`;
    const [row] = await sql`select headers from net.http_request_queue order by id desc limit 1`;

    assert.deepEqual(row?.headers, { "apikey": "k", "Content-Type": "application/json" });
    await assert.rejects(
      sql`select net.http_post('http://host', headers => '{"content-type": "text/plain"}')`,
      /must be "application\/json"/,
    );
  });

  await t.step("the executor is notified only of committed requests", async () => {
    const heard: string[] = [];
    const { unlisten } = await server.admin.listen("supaswarm_net", () => void heard.push("call"));

    await assert.rejects(sql.begin(async (tx) => {
      await tx`select net.http_get('http://host')`;
      throw new Error("rolled back");
    }));
    await sql`select net.http_get('http://host/committed')`;
    await waitFor(() => heard.length > 0);

    const urls = await sql`select url from net.http_request_queue where method = 'GET'`;
    assert.deepEqual(heard, ["call"]);
    assert.deepEqual(urls.map((row) => row.url), ["http://host/committed"]);
    await unlisten();
  });

  await t.step("every role may use it, including its tables", async () => {
    const rows = await asRole(sql, "anon", async (tx) => {
      await tx`select net.http_delete('http://host')`;
      return await tx`select headers from net.http_request_queue`;
    });

    assert.ok(rows.length > 0);
  });

  await t.step("_http_collect_response() of an unknown request is an ERROR", async () => {
    await sql`insert into net._http_response (id, status_code, content) values (-1, 200, 'ok')`;

    const [row] = await sql`
      select (net._http_collect_response(-1)).status as answered,
        (net._http_collect_response(99)).status as unknown`;

    assert.deepEqual({ ...row }, { answered: "SUCCESS", unknown: "ERROR" });
  });
});

Deno.test("pg_cron behaves like 1.6", async (t) => {
  await using server = await startNativeServer();
  const { sql } = server;
  await sql`create extension pg_cron`;

  await t.step("the same name overwrites the job and keeps its id", async () => {
    const [first] = await sql`select cron.schedule('tick', '15 seconds', 'select 1') as id`;
    const [again] = await sql`select cron.schedule('tick', '*/5 * * * 1-5', 'select 2') as id`;
    const jobs = await sql`select schedule, command, username, active from cron.job`;

    assert.equal(first?.id, again?.id);
    assert.deepEqual(jobs.map((job) => ({ ...job })), [
      { schedule: "*/5 * * * 1-5", command: "select 2", username: "postgres", active: true },
    ]);
  });

  await t.step("schedules are checked", async () => {
    const valid = [
      "* * * * *",
      "0 0 1,15 jan-mar sun",
      "*/15 0-6/2 * * 7",
      "1 seconds",
      "59 seconds",
      "5-1 * * * *",
      "@hourly",
      "0 12 $ * *",
    ];
    const invalid = ["60 seconds", "0 seconds", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *"];
    for (const schedule of valid) await sql`select cron.schedule(${schedule}, 'select 1')`;
    for (const schedule of [...invalid, "*/0 * * * *", "0/5 * * * *", "", "x * * * *"]) {
      await assert.rejects(sql`select cron.schedule(${schedule}, 'select 1')`, /invalid schedule/);
    }
  });

  await t.step("unschedule() raises for an absent job", async () => {
    const [row] = await sql`select cron.unschedule('tick') as done`;

    assert.equal(row?.done, true);
    await assert.rejects(sql`select cron.unschedule('tick')`, /could not find valid entry for job/);
    await assert.rejects(sql`select cron.unschedule(4711)`, /could not find valid entry for job/);
  });

  await t.step("alter_job() changes only its arguments", async () => {
    const [job] = await sql`select cron.schedule('pause', '* * * * *', 'select 1') as id`;
    await sql`select cron.alter_job(${job?.id}::bigint, active => false)`;

    const [row] = await sql`select active, command from cron.job where jobname = 'pause'`;

    assert.deepEqual({ ...row }, { active: false, command: "select 1" });
  });

  await t.step("jobs can be written only through the functions", async () => {
    await assert.rejects(
      sql`insert into cron.job (schedule, command) values ('* * * * *', 'x')`,
      DENIED,
    );
    await assert.rejects(sql`update cron.job set username = 'supabase_admin'`, DENIED);
  });

  await t.step("nobody can schedule a job for another role", async () => {
    await assert.rejects(
      sql`select cron.schedule_in_database('x', '* * * * *', 'x', 'postgres', 'supabase_admin')`,
      { code: "XX000" },
    );
  });

  await t.step("a role sees and deletes its own runs", async () => {
    await server.admin`
      insert into cron.job_run_details (jobid, username, command, status)
      values (1, 'postgres', 'select 1', 'succeeded'), (2, 'supabase_admin', 'select 1', 'failed')`;
    await sql`grant usage on schema cron to authenticated`;

    const seen = await asRole(sql, "authenticated", (tx) => tx`select * from cron.job_run_details`);
    const deleted = await sql`delete from cron.job_run_details where jobid = 1`;

    assert.equal(seen.length, 0);
    assert.equal(deleted.count, 1);
  });
});
