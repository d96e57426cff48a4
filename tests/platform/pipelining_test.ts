import assert from "node:assert/strict";
import { awaitSession, createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { TEST_DATABASE } from "../../scripts/test/test_database.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { startCountingProxy } from "./counting_proxy.ts";

/** Statements of every kind at once: with and without parameters, alone and in a transaction. */
async function useAll(sql: Sql): Promise<readonly unknown[]> {
  const work = Array.from({ length: 10 }, async (_, i) => {
    const [plain, parameter, failure, transaction] = await Promise.all([
      sql`select 1 as it`,
      sql`select ${i}::int as it`,
      sql`select 1 / 0`.catch((error) => error.code),
      sql.begin(async (tx) => await Promise.all([tx`select 2 as it`, tx`select ${i}::int as it`])),
    ]);
    return [plain[0]?.it, parameter[0]?.it, failure, ...transaction.map(([row]) => row?.it)];
  });
  return await Promise.all(work);
}

const EXPECTED = Array.from({ length: 10 }, (_, i) => [1, i, "22012", 2, i]);

Deno.test("statements wait for each other only behind a pooler, and until a session is known", async (t) => {
  const database = await openDatabase({ db: TEST_DATABASE, dataDir: null, log: () => {} });
  const use = async (mark: string, prepare: (sql: Sql) => void) => {
    await using proxy = startCountingProxy(Number(new URL(database.url).port));
    const url = new URL(database.url);
    url.port = String(proxy.port);
    url.search = `sslmode=disable${mark}`;
    const sql = createSql(url.href, { maxConnections: 2, applicationName: "pipelining" });
    prepare(sql);
    try {
      return { results: await useAll(sql), mostWaiting: proxy.mostWaiting() };
    } finally {
      await sql.end({ timeout: 1 });
    }
  };
  try {
    await t.step("behind a pooler", async () => {
      assert.deepEqual(await use("&pgbouncer=true", () => {}), {
        results: EXPECTED,
        mostWaiting: 1,
      });
    });
    await t.step("until a session is known", async () => {
      assert.deepEqual(await use("", awaitSession), { results: EXPECTED, mostWaiting: 1 });
    });
    await t.step("on a connection of their own they do not", async () => {
      const { results, mostWaiting } = await use("", () => {});

      assert.deepEqual(results, EXPECTED);
      assert.ok(mostWaiting > 1, `${mostWaiting}`);
    });
  } finally {
    await database.stop();
  }
});
