import { createSql } from "../../shared/db/sql_client.ts";
import { PROJECT_ROOT } from "../../scripts/project_root.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { pgtapFiles, runPgtapFile } from "./pgtap.ts";

Deno.test("SQL on the embedded database", async (test) => {
  const database = await openDatabase({
    db: "pglite",
    dataDir: "",
    ephemeral: true,
    projectRoot: PROJECT_ROOT,
    log: () => {},
  });
  try {
    const sql = createSql(database.url, { maxConnections: 1, applicationName: "pgtap" });
    for (const file of await pgtapFiles()) {
      await test.step(file.claim, () => runPgtapFile(sql, file));
    }
    await sql.end();
  } finally {
    await database.stop();
  }
});
