/**
 * The pgTAP files that `deno task test supabase/tests/…` names, one test each, so that `--filter`
 * finds them. Not a test file by its name, because the complete run has `pgtap_test.ts`.
 */
import { PROJECT_ROOT } from "../../../scripts/project_root.ts";
import { chosenPgtapFiles, TEST_DATABASE } from "../../../scripts/test/test_database.ts";
import { createSql, type Sql } from "../../../shared/platform/db/sql_client.ts";
import { openDatabase } from "../../../stack/open_database.ts";
import { keepPgtapTables, pgtapFiles, runPgtapFile } from "./pgtap.ts";

const chosen = new Set(chosenPgtapFiles());
const [factories, ...others] = await pgtapFiles();
if (factories === undefined) throw new Error("There are no pgTAP files");
let opened: Promise<{ sql: Sql; stop: () => Promise<void> }> | undefined;

for (const file of [factories, ...others].filter(({ path }) => chosen.has(path))) {
  Deno.test({
    name: file.claim,
    // The database is opened by the first test and stopped after the last one.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      opened ??= open();
      const { sql } = await opened;
      await runPgtapFile(sql, file);
    },
  });
}

Deno.test.afterAll(async () => await (await opened)?.stop());

async function open() {
  const database = await openDatabase({
    db: TEST_DATABASE,
    dataDir: null,
    projectRoot: PROJECT_ROOT,
    log: () => {},
  });
  const sql = createSql(database.url, { maxConnections: 1, applicationName: "pgtap" });
  const stop = async () => {
    await sql.end();
    await database.stop();
  };
  if (factories !== undefined) await runPgtapFile(sql, factories);
  await keepPgtapTables(sql);
  return { sql, stop };
}
