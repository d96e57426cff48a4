import assert from "node:assert/strict";
import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import { createSessionCheck } from "../../shared/db/session_check.ts";
import { openRaceTrack } from "./race_fixture.ts";

Deno.test("statements are prepared once a notification has come back", async () => {
  await using track = await openRaceTrack({ connections: 2 });
  const { sql, admin } = track;
  const checkSession = createSessionCheck(sql, await urlOf(sql, admin));
  assert.equal(await isPrepared(sql), false);

  await Promise.all([checkSession(), checkSession()]);

  assert.equal(await isPrepared(sql), true);
  const [left] = await admin`
    select count(*)::int as count from pg_stat_activity
    where application_name = 'supaswarm session check'`;
  assert.equal(left?.count, 0, "no connection stays open");
});

Deno.test("a database that nobody can listen to changes nothing", async () => {
  const mute = createSql("postgresql://nobody@127.0.0.1:1/none", {
    maxConnections: 1,
    applicationName: "mute",
  });

  await createSessionCheck(mute, "postgresql://nobody@127.0.0.1:1/none")();

  assert.equal(mute.options.prepare, false);
  await mute.end({ timeout: 1 });
});

async function isPrepared(sql: Sql): Promise<boolean> {
  const [itself] = await sql`
    select from pg_prepared_statements where statement like ${"%pg_prepared_statements%"}`;
  return itself !== undefined;
}

async function urlOf(sql: Sql, admin: Sql): Promise<string> {
  const [server] = await admin<{ url: string }[]>`
    select format('127.0.0.1:%s/postgres', inet_server_port()) as url`;
  const { user, pass } = sql.options as unknown as { user: string; pass: string };
  return `postgresql://${user}:${pass}@${server?.url}`;
}
