import { CommandError } from "./command_error.ts";
import { postgres } from "./deps.ts";

/** A connection to a project's database. */
export type Database = ReturnType<typeof postgres>;

/**
 * Uses a database, and closes the connection afterwards.
 *
 * @throws CommandError `DATABASE_FAILED` with the error of the server
 */
export async function useDatabase<Result>(
  url: string,
  use: (sql: Database) => Promise<Result>,
): Promise<Result> {
  const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 15 });
  try {
    return await use(sql);
  } catch (cause) {
    if (cause instanceof CommandError) throw cause;
    const { message, hint } = cause as { message: string; hint?: string };
    throw new CommandError(
      "DATABASE_FAILED",
      `The database refused the command: ${message}`,
      hint ?? "Check the URL of --db: Connect, Session pooler in the dashboard, as role postgres.",
      { cause },
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}
