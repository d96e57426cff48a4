import { postgres } from "../deps.ts";
import { type InstalledSchema, privateSchema } from "../release/fill_names.ts";
import { withinConnectLimit } from "./connect_limit.ts";
import { notInDatabase, toDatabaseError } from "./database_error.ts";

/** A connection to a project's database. */
export type Database = ReturnType<typeof postgres>;

/**
 * Uses a database, and closes the connection afterwards.
 *
 * @throws CommandError `DATABASE_UNREACHABLE`, `LOGIN_REFUSED`, or the server's own refusal
 */
export async function useDatabase<Result>(
  url: string,
  use: (sql: Database) => Promise<Result>,
): Promise<Result> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await withinConnectLimit(url, sql`select 1`);
    return await use(sql);
  } catch (cause) {
    throw toDatabaseError(cause, url);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Uses a database that has the platform in this schema. @throws CommandError `NOT_IN_DATABASE` too */
export async function useInstalledDatabase<Result>(
  url: string,
  schema: InstalledSchema,
  use: (sql: Database) => Promise<Result>,
): Promise<Result> {
  return await useDatabase(url, async (sql) => {
    if (!await hasPlatform(sql, schema)) throw notInDatabase(url);
    return await use(sql);
  });
}

/** Whether the database has any release of the platform in this schema. */
export async function hasPlatform(sql: Database, schema: InstalledSchema): Promise<boolean> {
  const [row] = await sql`
    select to_regprocedure(${`${privateSchema(schema)}.schema_version()`}) is not null as exists`;
  return row?.exists === true;
}
