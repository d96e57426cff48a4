/** Started by database_folder_test.ts to be killed while its database runs a long statement. */
import { createSql } from "../../shared/platform/db/sql_client.ts";
import { openDatabase } from "../../stack/open_database.ts";

const [dataDir = ""] = Deno.args;
const database = await openDatabase({ db: "pglite", dataDir, log: () => {} });
const sql = createSql(database.url, { maxConnections: 2, applicationName: "busy-stack" });
await sql`create table kept as select 1 as i`;
const sleep = sql`select pg_sleep(86400)`.execute();
// The statement is sent before the line that gets this process killed.
await new Promise((resolve) => setTimeout(resolve, 200));
await Deno.stdout.write(new TextEncoder().encode("busy\n"));
await sleep;
