import assert from "node:assert/strict";
import { callerSessionsOf } from "../../shared/platform/db/caller_session.ts";
import { createSessionCheck } from "../../shared/platform/db/session_check.ts";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { openIsolatePool } from "../../shared/platform/isolate/isolate_pool.ts";
import { withDeadline } from "../../shared/platform/values/with_deadline.ts";
import { startMigratedServer } from "./native_server.ts";

/** More than the check's own time limit. */
const LIMIT_MS = 10_000;
const USERS = ["ada", "bob"] as const;

Deno.test("the check of a pool that has opened nothing prepares its statements", async () => {
  await using server = await startMigratedServer();
  const sql = openPool(server.cluster.url);
  const checkSession = createSessionCheck(sql);
  try {
    await inTime(Promise.all([checkSession(), checkSession()]));

    assert.equal(await isPrepared(sql), true);
    const seen: { pid: number; channels: string[] }[] = [];
    const both = Promise.withResolvers<void>();
    await inTime(Promise.all(USERS.map((userId) =>
      useAs(sql, userId, async (callers) => {
        seen.push(
          ...await callers<{ pid: number; channels: string[] }[]>`
          select pg_backend_pid() as pid, array(select pg_listening_channels()) as channels`,
        );
        if (seen.length === USERS.length) both.resolve();
        await both.promise;
      })
    )));
    assert.deepEqual(seen.map(({ channels }) => channels), ["{}", "{}"], "none keeps listening");
    assert.equal(new Set(seen.map(({ pid }) => pid)).size, 2, "the check gave its connection back");
  } finally {
    await sql.end({ timeout: 1 });
  }
});

Deno.test("a check that got no connection is made again", async () => {
  await using server = await startMigratedServer();
  const sql = openPool(server.cluster.url);
  const checkSession = createSessionCheck(sql);
  const over = Promise.withResolvers<void>();
  try {
    const held = USERS.map((userId) => useAs(sql, userId, () => over.promise));
    await inTime(checkSession());
    assert.equal(await isPrepared(sql), false);
    over.resolve();
    await Promise.all(held);

    await inTime(checkSession());

    assert.equal(await isPrepared(sql), true);
  } finally {
    await sql.end({ timeout: 1 });
  }
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

/** Like that of `mcp`: one connection, and two of the callers. */
function openPool(databaseUrl: string): Sql {
  return openIsolatePool(databaseUrl, "session-check", ["caller", "caller"]);
}

async function useAs(
  sql: Sql,
  userId: string,
  work: (callers: Sql) => Promise<void>,
): Promise<void> {
  const { signal } = new AbortController();
  await callerSessionsOf(sql).use(work, { userId, signal, closes: false });
}

/** @throws AssertionError if it takes longer than the check may take. */
async function inTime(work: Promise<unknown>): Promise<void> {
  const { kind } = await withDeadline(LIMIT_MS, new AbortController().signal, () => work);
  assert.equal(kind, "done", `it did not end within ${LIMIT_MS} ms`);
}

async function isPrepared(sql: Sql): Promise<boolean> {
  const [itself] = await sql`
    select from pg_prepared_statements where statement like ${"%pg_prepared_statements%"}`;
  return itself !== undefined;
}
