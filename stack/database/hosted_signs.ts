import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { SwarmError } from "../../shared/platform/errors/swarm_error.ts";

/** The comment of every extension that the stack itself provides. */
const OWN_COMMENT = "SupaSwarm: %";
const OWN_EXTENSIONS = ["pgmq", "pg_cron", "pg_net", "supabase_vault"];

/**
 * Refuses the database of a Supabase project, whether hosted or run by the Supabase CLI. The stack
 * would register its own loopback address there, which breaks the project's wake-ups, and would
 * store demo secrets in its Vault. This check only reads.
 *
 * @param place The server's name for errors, without credentials.
 * @throws SwarmError `DATABASE_REFUSED` with the signs that were found.
 */
export async function refuseHosted(sql: Sql, place: string): Promise<void> {
  const signs = await findHostedSigns(sql);
  if (signs.length === 0) return;
  throw new SwarmError(
    "DATABASE_REFUSED",
    `Cannot run the stack on the database at ${place}: it belongs to a Supabase project ` +
      `(${signs.join("; ")}). Nothing was written`,
    {
      hint:
        "Deploy to the project with `supabase db push --remote` and `supabase functions deploy`; for " +
        "the stack use --db pglite, --db native, or a server that native:install prepared.",
    },
  );
}

/** Returns the signs that the database belongs to a Supabase project. */
async function findHostedSigns(sql: Sql): Promise<string[]> {
  const rows = await sql<{ sign: string }[]>`
    select 'the server loads supautils' as sign
    where pg_catalog.current_setting('supautils.reserved_roles', true) is not null
    union all
    select available.name || ' is the platform''s own'
    from pg_catalog.pg_available_extensions as available
    left join pg_catalog.pg_extension as installed on installed.extname = available.name
    where available.name in ${sql(OWN_EXTENSIONS)}
      and coalesce(
        pg_catalog.obj_description(installed.oid, 'pg_extension'), available.comment, ''
      ) not like ${OWN_COMMENT}
  `;
  const address = await registeredAddress(sql);
  const signs = rows.map(({ sign }) => sign).sort();
  if (address === null || isLoopback(address)) return signs;
  return [...signs, `its functions are at ${new URL(address).origin}`];
}

/** Returns the URL at which the database wakes functions, or null when none is registered. */
async function registeredAddress(sql: Sql): Promise<string | null> {
  const [table] = await sql<{ exists: boolean }[]>`
    select pg_catalog.to_regclass('private.settings') is not null as exists`;
  if (!table?.exists) return null;
  const [row] = await sql<{ value: string }[]>`
    select value from private.settings where key = 'project_url'`;
  return row !== undefined && URL.canParse(row.value) ? row.value : null;
}

function isLoopback(address: string): boolean {
  const { hostname } = new URL(address);
  return /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
