import { createSql, type Sql } from "../../shared/platform/db/sql_client.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";
import type { StackDatabase } from "./database_port.ts";
import { refuseHosted } from "./hosted_signs.ts";
import { listenOnDatabase } from "./listening_database.ts";

const ROLES = ["anon", "authenticated", "service_role"];
const SCHEMAS = ["auth", "storage", "realtime", "extensions"];
const EXTENSIONS = ["pgmq", "pg_cron", "pg_net", "supabase_vault", "vector"];

/**
 * Opens a server that the installer prepared, never the database of a Supabase project. The URL
 * must not point to a transaction pooler, because the stack listens for notifications.
 *
 * @throws SwarmError `DATABASE_UNAVAILABLE` when the server cannot be reached, `DATABASE_REFUSED`
 * for a Supabase project, `CONFIG_INVALID` with the missing roles, schemas or extensions. All
 * checks run before the first write.
 */
export async function openUrlDatabase(url: string): Promise<StackDatabase> {
  const sql = createSql(url, { maxConnections: 1, applicationName: "supaswarm start" });
  try {
    await refuseHosted(sql, place(url));
    const missing = await findMissing(sql);
    if (missing.length > 0) throw notPrepared(url, missing);
  } catch (error) {
    if (error instanceof SwarmError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new SwarmError(
      "DATABASE_UNAVAILABLE",
      `Cannot use the database at ${place(url)}: ${reason}`,
      {
        cause: error,
        hint: "Check the host, port, user and password of the URL.",
      },
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
  return listenOnDatabase({ kind: "url", url, adminUrl: url, stop: () => Promise.resolve() });
}

async function findMissing(sql: Sql): Promise<string[]> {
  const wanted = sql.json({ role: ROLES, schema: SCHEMAS, extension: EXTENSIONS });
  const rows = await sql<{ missing: string }[]>`
    select kind.key || ' ' || name.value as missing
    from jsonb_each(${wanted}::jsonb) as kind,
      jsonb_array_elements_text(kind.value) as name
    where not case kind.key
      when 'role' then exists (select from pg_catalog.pg_roles where rolname = name.value)
      when 'schema' then exists (select from pg_catalog.pg_namespace where nspname = name.value)
      else exists (
        select from pg_catalog.pg_available_extensions as available
        where available.name = name.value
      )
    end
    order by 1
  `;
  return rows.map(({ missing }) => missing);
}

function notPrepared(url: string, missing: readonly string[]): SwarmError {
  return new SwarmError(
    "CONFIG_INVALID",
    `Cannot use the database at ${place(url)}: it lacks ${missing.join(", ")}`,
    { hint: "Use a server that `deno task native:install` prepared, --db native or --db pglite." },
  );
}

/** Returns host and database, never user and password. */
function place(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
