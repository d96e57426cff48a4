import assert from "node:assert/strict";
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { findExposures } from "../../scripts/demo/find_exposures.ts";
import { openDatabase } from "../../stack/open_database.ts";

Deno.test("findExposures() finds secrets outside Vault", async (test) => {
  const database = await openDatabase({
    db: "pglite",
    dataDir: null,
    log: () => {},
  });
  const sql = createSql(database.url, { maxConnections: 1, applicationName: "test" });
  try {
    await sql.unsafe("create extension supabase_vault").catch(() => {});
    await sql`select vault.create_secret('planted-secret', 'planted')`;

    await test.step("finds nothing if a secret is only in Vault", async () => {
      assert.deepEqual(await findExposures(sql, ["planted-secret"], []), []);
    });

    await test.step("finds a secret inside a text, a JSON value and a log", async () => {
      await sql.unsafe(`
        create table public.notes (secret text, note text, data jsonb);
        insert into public.notes values ('harmless', 'x planted-secret x', null);
        create schema elsewhere;
        create table elsewhere.facts (data jsonb);
        insert into elsewhere.facts values ('{"deep": ["other", {"key": "planted-secret"}]}');
      `);

      const found = await findExposures(sql, ["unused", "planted-secret"], [
        { where: "logs", text: 'line {"key":"planted-secret"}' },
        { where: "broadcasts", text: "nothing" },
      ]);

      assert.deepEqual(found, ["logs", "table elsewhere.facts", "table public.notes"]);
    });

    await test.step("refuses an empty search", async () => {
      await assert.rejects(findExposures(sql, [], []), RangeError);
    });
  } finally {
    await sql.end();
    await database.stop();
  }
});
