import { createSql } from "../../shared/db/sql_client.ts";
import { pgtapFiles, runPgtapFile } from "../sql/pgtap.ts";
import { startMigratedServer } from "./native_server.ts";

Deno.test("SQL on native Postgres, as the role that runs the migrations", async (test) => {
  await using server = await startMigratedServer();
  const sql = createSql(server.cluster.url, { maxConnections: 1, applicationName: "pgtap" });
  try {
    for (const file of await pgtapFiles()) {
      await test.step(file.claim, () => runPgtapFile(sql, file));
    }
  } finally {
    await sql.end();
  }
});
