import assert from "node:assert/strict";
import { createSql, type Sql } from "../../shared/db/sql_client.ts";
import { createSessionCheck } from "../../shared/db/session_check.ts";
import { openRaceTrack } from "./race_fixture.ts";

Deno.test("statements are prepared after a notification has arrived", async () => {
  await using track = await openRaceTrack({ connections: 2 });
  const { sql, admin } = track;
  const checkSession = createSessionCheck(sql);
  const [session] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const pid = session?.pid ?? 0;
  assert.equal(await isPrepared(sql), false);

  await Promise.all([checkSession(), checkSession()]);

  assert.equal(await isPrepared(sql), true);
  const listening = await Promise.all([1, 2].map(() => sql`select pg_listening_channels()`));
  assert.deepEqual(listening.flat(), [], "no connection keeps listening");
  const [own] = await admin<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where application_name = (select application_name from pg_stat_activity where pid = ${pid})`;
  assert.equal(own?.count, 2, "the check used no additional connection");
});

Deno.test("a database without LISTEN support changes nothing", async () => {
  const mute = createSql("postgresql://nobody@127.0.0.1:1/none", {
    maxConnections: 1,
    applicationName: "mute",
  });

  await createSessionCheck(mute)();

  assert.equal(mute.options.prepare, false);
  await mute.end({ timeout: 1 });
});

async function isPrepared(sql: Sql): Promise<boolean> {
  const [itself] = await sql`
    select from pg_prepared_statements where statement like ${"%pg_prepared_statements%"}`;
  return itself !== undefined;
}
