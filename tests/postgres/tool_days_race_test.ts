import assert from "node:assert/strict";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { startMigratedServer } from "./native_server.ts";

Deno.test("a call that is committed late is in the sums, and calls without a sum are in the view", async () => {
  await using server = await startMigratedServer();
  const { sql, admin } = server;
  const addSettled = () => sql`select private.sum_tool_calls(100)`;

  await addCall(sql, 20);
  await admin.begin(async (tx) => {
    await addCall(tx as unknown as Sql, 15);
    for (let run = 0; run < 3; run++) await addSettled();
    assert.deepEqual(await counts(sql), { summed: 0, shown: 1 });
  });
  await addSettled();
  await addCall(sql, 0);
  for (let run = 0; run < 3; run++) await addSettled();

  assert.deepEqual(await counts(sql), { summed: 2, shown: 3 });
});

Deno.test("sums continue in a database that was restored from another server", async () => {
  await using server = await startMigratedServer();
  const { sql } = server;
  await addCall(sql, 20);
  await sql`
    update private.tool_days_mark
    set next_until = now(), next_xid = (pg_current_xact_id()::text::bigint + 1000000)::text::xid8`;

  for (let run = 0; run < 2; run++) await sql`select private.sum_tool_calls(100)`;

  assert.deepEqual(await counts(sql), { summed: 1, shown: 1 });
});

Deno.test("grades that arrive while their calls are summed count once", async () => {
  await using server = await startMigratedServer();
  const { sql } = server;
  const tokens = await Promise.all(
    Array.from({ length: 40 }, (_, n) => addCall(sql, 60 - n)),
  );

  await Promise.all(tokens.map((token, n) =>
    Promise.all([
      sql`select private.record_feedback(null, ${token}::uuid, 'up', ${n % 5 + 1}, null)`,
      sql`select private.add_tool_calls(now() - make_interval(mins => ${60 - n}))`,
    ])
  ));
  await sql`select private.add_tool_calls(now())`;

  const [row] = await sql`
    select sum(call_count)::int as calls, sum(up_count)::int as up, sum(score_sum)::int as score
    from public.tool_days`;
  assert.deepEqual({ ...row }, { calls: 40, up: 40, score: 120 });
});

async function addCall(sql: Sql, minutesAgo: number): Promise<string> {
  const [row] = await sql<{ token: string }[]>`
    insert into public.mcp_executions (mcp_name, tool_name, execution_time_ms, status, created_at)
    values ('notes', 'search', 1, 'success', now() - make_interval(mins => ${minutesAgo}))
    returning feedback_token as token`;
  assert.ok(row);
  return row.token;
}

async function counts(sql: Sql): Promise<{ summed: number; shown: number }> {
  const [row] = await sql<{ summed: number; shown: number }[]>`
    select (select coalesce(sum(call_count), 0) from public.tool_days)::int as summed,
      (select coalesce(sum(call_count), 0) from public.tool_usage)::int as shown`;
  assert.ok(row);
  return { ...row };
}
