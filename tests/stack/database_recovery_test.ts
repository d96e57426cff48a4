import assert from "node:assert/strict";
import { waitFor } from "../../scripts/wait_for.ts";
import { testsSharing } from "../shared_fixture.ts";
import { type DatabaseFixture, openDatabaseFixture } from "./database_fixture.ts";

/** Short, because a statement that sleeps keeps a processor busy on PGlite. */
const STATEMENT_LIMIT_MS = 3_000;
const databaseTest = testsSharing(() =>
  openDatabaseFixture({ statementLimitMs: STATEMENT_LIMIT_MS })
);

/** Registers a test that can count the restarts of the database since its start. */
function recoveryTest(
  claim: string,
  test: (fixture: DatabaseFixture, restartCount: () => number) => Promise<void>,
): void {
  databaseTest(claim, async (fixture) => {
    // The restart that ended the test before may not have ended yet.
    await waitFor(() => fixture.sql`select 1`.catch(() => null), { what: "the database" });
    let count = 0;
    const unsubscribe = fixture.database.onRestart(() => count++);
    await test(fixture, () => count);
    unsubscribe();
  });
}

recoveryTest(
  "a statement beyond the limit restarts the embedded database on the same port and data",
  async (fixture, restartCount) => {
    const { database, sql, events } = fixture;
    const { url } = database;
    const received: string[] = [];
    await database.onNotification("test", (payload) => received.push(payload));
    await sql`create table kept as select 7 as i`;

    await assert.rejects(sql`select pg_sleep(60)`);
    await waitFor(() => restartCount() >= 1, { what: "the restart" });
    const [row] = await waitFor(() => sql`select i from kept`.catch(() => null));
    await waitFor(() => sql`select pg_notify('test', 'again')`.catch(() => null));
    await waitFor(() => received.length > 0, { what: "a notification after the restart" });

    assert.deepEqual(row, { i: 7 });
    assert.deepEqual(received, ["again"]);
    assert.equal(database.url, url);
    assert.ok(events.includes("database.stalled"));
  },
);

recoveryTest(
  "many consecutive short statements do not count as one long statement",
  async ({ sql }, restartCount) => {
    const endAt = performance.now() + 1.5 * STATEMENT_LIMIT_MS;

    await Promise.all(Array.from({ length: 16 }, async (_, i) => {
      while (performance.now() < endAt) await sql`select ${i}::int, pg_sleep(0.02)`;
    }));

    assert.equal(restartCount(), 0);
  },
);

recoveryTest(
  "an idle transaction that blocks others beyond the limit causes a restart",
  async ({ sql }, restartCount) => {
    await assert.rejects(sql.begin(async (tx) => {
      await tx`select 1`;
      await Promise.allSettled([sql`select 2`]);
      await tx`select 3`;
    }));

    await waitFor(() => restartCount() >= 1, { what: "the restart" });
  },
);

recoveryTest(
  "a killed database process restarts with every acknowledged row",
  async (fixture, restartCount) => {
    const { sql } = fixture;
    await sql`create table written (i integer primary key)`;
    const acknowledged: number[] = [];
    const write = async (i: number) => {
      await sql`insert into written values (${i}::int)`;
      acknowledged.push(i);
    };
    const writes = Array.from({ length: 400 }, (_, i) => write(i));
    await waitFor(() => acknowledged.length > 50, { intervalMs: 1 });

    Deno.kill(await fixture.childPid(), "SIGKILL");
    await Promise.allSettled(writes);
    await waitFor(() => restartCount() >= 1, { what: "the restart" });

    const rows = await waitFor(() => sql<{ i: number }[]>`select i from written`.catch(() => null));
    const stored = new Set(rows.map(({ i }) => i));
    assert.deepEqual(acknowledged.filter((i) => !stored.has(i)), []);
  },
);
