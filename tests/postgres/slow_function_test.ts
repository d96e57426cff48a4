import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { LentConnection } from "../../shared/platform/db/lent_connection.ts";
import { runAsUser } from "../../shared/platform/db/run_as_user.ts";
import { isolateClock } from "../../shared/platform/isolate/clock.ts";
import {
  MAX_ISOLATE_CONNECTIONS,
  openIsolatePool,
} from "../../shared/platform/isolate/isolate_pool.ts";
import { createTaskListener } from "../../shared/engine/worker/task_listener.ts";
import { openRaceTrack } from "./race_fixture.ts";

Deno.test("a user's slow function leaves a connection of the worker for another user", async () => {
  await using track = await openRaceTrack({ connections: 1 });
  const { sql: test, admin } = track;
  const [server] = await admin<{ url: string }[]>`
    select format('postgresql://127.0.0.1:%s/postgres', inet_server_port()) as url`;
  const { user, pass } = test.options as unknown as { user: string; pass: string };
  const databaseUrl = (server?.url ?? "").replace("//", `//${user}:${pass}@`);
  const [slowUser, otherUser] = [crypto.randomUUID(), crypto.randomUUID()];
  for (const id of [slowUser, otherUser]) await test`insert into auth.users (id) values (${id})`;
  const lent = new LentConnection();
  const sql = openIsolatePool(databaseUrl, "supaswarm-worker", ["caller", "listener"], lent);
  const stop = new AbortController();
  let hints = 0;
  const listening = createTaskListener({
    databaseUrl,
    sql,
    clock: { ...isolateClock, sleep: (_ms, signal) => isolateClock.sleep(300, signal) },
    log: () => {},
    lent,
  })({ workerId: "w", onHint: () => hints++ }, stop.signal);
  const connections = async () => {
    const rows = await admin<{ name: string }[]>`
      select application_name as name from pg_stat_activity
      where application_name in ('supaswarm-worker', 'supaswarm-worker listener', 'supaswarm caller')`;
    return rows.map(({ name }) => name);
  };
  const ask = (userId: string, statement: string, signal = stop.signal) =>
    runAsUser(
      sql,
      { userId, isReadOnly: true, statementTimeoutMs: 30_000, signal },
      async (transaction) => await transaction.unsafe(statement),
    );
  try {
    await waitFor(async () => (await connections()).includes("supaswarm-worker listener"));
    await ask(otherUser, "select 1");
    const giveUp = new AbortController();
    const slow = ask(slowUser, "select pg_sleep(30)", giveUp.signal).catch(() => "given up");
    const isSlow = async () => {
      const [row] = await admin`
        select from pg_stat_activity where query like 'select pg_sleep(30)%' and state = 'active'`;
      return row !== undefined;
    };
    await waitFor(isSlow, { what: "the slow function" });

    await ask(otherUser, "select 1");
    const isStillSlow = await isSlow();
    const names = await ask(otherUser, "select pg_sleep(0.1)").then(connections);

    assert.ok(isStillSlow, "the other user waited for the slow function");
    assert.ok(names.length <= MAX_ISOLATE_CONNECTIONS, names.join());
    giveUp.abort(new Error("enough"));
    assert.equal(await slow, "given up");
    await waitFor(() => hints > 0, { what: "the listener's check after it resumed" });
    assert.ok((await connections()).length <= MAX_ISOLATE_CONNECTIONS);
  } finally {
    stop.abort(new Error("over"));
    await listening;
    await sql.end({ timeout: 1 });
  }
});
