import { join } from "node:path";
import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import type { Logger, StackDatabase } from "../../stack/database/database_port.ts";
import { readHolder } from "../../stack/database/folder_lock.ts";
import { openDatabase } from "../../stack/open_database.ts";
import { protectProcess } from "../../stack/database/protect_process.ts";

/** An embedded database on a folder that the test can open again. */
export interface DatabaseFixture extends AsyncDisposable {
  readonly database: StackDatabase;
  readonly dataDir: string;
  /** A pool of eight connections. */
  readonly sql: Sql;
  /** Events that the database logged, in order. */
  readonly events: readonly string[];
  /** Process id of the database child. */
  childPid(): Promise<number>;
}

/** The options of a test. */
export interface DatabaseFixtureOptions {
  /** A folder that an earlier fixture left; it is removed with this one. */
  readonly dataDir?: string;
  readonly statementLimitMs?: number;
}

/** Opens an embedded database that also listens on the channel `test`. */
export async function openDatabaseFixture(
  options: DatabaseFixtureOptions = {},
): Promise<DatabaseFixture> {
  const { statementLimitMs = 30_000 } = options;
  const dataDir = options.dataDir ?? await Deno.makeTempDir({ prefix: "supaswarm-test-" });
  const events: string[] = [];
  const log: Logger = (_level, event) => void events.push(event);
  const unprotect = protectProcess(() => {});
  const database = await openDatabase({
    db: "pglite",
    dataDir,
    statementLimitMs,
    channels: ["test"],
    log,
  });
  const sql = createSql(database.url, { maxConnections: 8, applicationName: "database-test" });
  return {
    database,
    dataDir,
    sql,
    events,
    childPid: async () => (await readHolder(join(dataDir, "pglite.lock")))?.pid ?? 0,
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 });
      await database.stop();
      unprotect();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}
