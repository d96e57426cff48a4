import assert from "node:assert/strict";
import { createSql } from "../../../shared/platform/db/sql_client.ts";
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { TEST_DATABASE } from "../../../scripts/test/test_database.ts";
import { openDatabase } from "../../../stack/open_database.ts";
import { pgtapFiles, runPgtapFile, runPgtapFiles } from "./pgtap.ts";

Deno.test(`SQL on ${TEST_DATABASE}, as the role that runs the migrations`, async (test) => {
  const database = await openDatabase({
    db: TEST_DATABASE,
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    // A file is one statement, and a restart would fail all files after it.
    statementLimitMs: 300_000,
    log: () => {},
  });
  try {
    const sql = createSql(database.url, { maxConnections: 1, applicationName: "pgtap" });
    await runPgtapFiles(test, sql, await pgtapFiles());
    await test.step("a failed, a missing and an unplanned assertion are found", async () => {
      const run = (assertions: string) => {
        const text = `begin; set local search_path = public, extensions; select plan(2);
          ${assertions} select * from finish(); rollback;`;
        return runPgtapFile(sql, { path: "", claim: "of this test", folder: "", sql: text });
      };
      await run("select pass('1'); select pass('2');");
      await assert.rejects(run("select pass('1'); select fail('2');"), /not ok/);
      await assert.rejects(run("select pass('1');"), /planned 2 tests but ran 1/);
      await assert.rejects(
        run("select pass('1'); select pass('2'); select pass('3');"),
        /planned 2 tests but ran 3/,
      );
    });
    await sql.end();
  } finally {
    await database.stop();
  }
});
