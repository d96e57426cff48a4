import { withinConnectLimit } from "../../client/command/database/connect_limit.ts";
import { notInDatabase, toDatabaseError } from "../../client/command/database/database_error.ts";
import { createSql, type Sql, type SqlNotice } from "../../shared/platform/db/sql_client.ts";

interface DatabaseOptions {
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** @default 1 */
  readonly maxConnections?: number;
  readonly reportNotice?: (notice: SqlNotice) => void;
}

/**
 * Uses a database, and closes the connections afterwards.
 *
 * @throws CommandError if it cannot be reached or refuses the login.
 */
export async function useDatabase<Result>(
  url: string,
  options: DatabaseOptions,
  use: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = createSql(url, { maxConnections: 1, ...options });
  try {
    await withinConnectLimit(url, sql`select 1`);
    return await use(sql);
  } catch (error) {
    throw toDatabaseError(error, url);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Uses a database that has the platform. @throws CommandError as {@linkcode useDatabase} */
export async function usePlatform<Result>(
  url: string,
  options: DatabaseOptions,
  use: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  return await useDatabase(url, options, async (sql) => {
    const [row] = await sql`
      select to_regprocedure('private.schema_version()') is not null as exists`;
    if (row?.exists !== true) throw notInDatabase(url);
    return await use(sql);
  });
}
