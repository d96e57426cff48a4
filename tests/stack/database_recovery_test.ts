import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { openDatabaseFixture } from "./database_fixture.ts";

Deno.test("a statement beyond the limit restarts the embedded database on the same port and data", async () => {
  await using fixture = await openDatabaseFixture({ statementLimitMs: 3_000 });
  const { database, sql, events } = fixture;
  const { url } = database;
  const received: string[] = [];
  let restartCount = 0;
  await database.onNotification("test", (payload) => received.push(payload));
  database.onRestart(() => restartCount++);
  await sql`create table kept as select 7 as i`;

  await assert.rejects(sql`select pg_sleep(60)`);
  await waitFor(() => restartCount === 1, { what: "the restart" });
  const [row] = await waitFor(() => sql`select i from kept`.catch(() => null));
  await waitFor(() => sql`select pg_notify('test', 'again')`.catch(() => null));
  await waitFor(() => received.length > 0, { what: "a notification after the restart" });

  assert.deepEqual(row, { i: 7 });
  assert.deepEqual(received, ["again"]);
  assert.equal(database.url, url);
  assert.ok(events.includes("database.stalled"));
});

Deno.test("many consecutive short statements do not count as one long statement", async () => {
  await using fixture = await openDatabaseFixture({ statementLimitMs: 2_000 });
  const { database, sql } = fixture;
  database.onRestart(() => assert.fail("restarted"));
  const endAt = performance.now() + 5_000;

  await Promise.all(Array.from({ length: 16 }, async (_, i) => {
    while (performance.now() < endAt) await sql`select ${i}::int, pg_sleep(0.02)`;
  }));
});

Deno.test("an idle transaction that blocks others beyond the limit causes a restart", async () => {
  await using fixture = await openDatabaseFixture({ statementLimitMs: 3_000 });
  const { database, sql } = fixture;
  let restartCount = 0;
  database.onRestart(() => restartCount++);

  await assert.rejects(sql.begin(async (tx) => {
    await tx`select 1`;
    await Promise.allSettled([sql`select 2`]);
    await tx`select 3`;
  }));

  await waitFor(() => restartCount === 1, { what: "the restart" });
});

Deno.test("a killed database process restarts with every acknowledged row", async () => {
  await using fixture = await openDatabaseFixture();
  const { database, sql } = fixture;
  let restartCount = 0;
  database.onRestart(() => restartCount++);
  await sql`create table kept (i integer primary key)`;
  const acknowledged: number[] = [];
  const write = async (i: number) => {
    await sql`insert into kept values (${i}::int)`;
    acknowledged.push(i);
  };
  const writes = Array.from({ length: 400 }, (_, i) => write(i));
  await waitFor(() => acknowledged.length > 50, { intervalMs: 1 });

  Deno.kill(await fixture.childPid(), "SIGKILL");
  await Promise.allSettled(writes);
  await waitFor(() => restartCount === 1, { what: "the restart" });

  const rows = await waitFor(() => sql<{ i: number }[]>`select i from kept`.catch(() => null));
  const stored = new Set(rows.map(({ i }) => i));
  assert.deepEqual(acknowledged.filter((i) => !stored.has(i)), []);
});
