import { createSql } from "../../shared/platform/db/sql_client.ts";
import { pgtapFiles, runPgtapFiles } from "../platform/pgtap/pgtap.ts";
import { startMigratedServer } from "./native_server.ts";

Deno.test("SQL on native Postgres, as the role that runs the migrations", async (test) => {
  await using server = await startMigratedServer();
  const sql = createSql(server.cluster.url, { maxConnections: 1, applicationName: "pgtap" });
  try {
    await runPgtapFiles(test, sql, await pgtapFiles());
  } finally {
    await sql.end();
  }
});
