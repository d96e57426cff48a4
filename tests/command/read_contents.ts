import type { Sql } from "../../shared/platform/db/sql_client.ts";

/** What a database contains beside rows, one line for each object with its rights. */
export async function readContents(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with object (kind, name, detail) as (
      select 'schema', nspname::text, concat(nspowner::regrole, nspacl) from pg_namespace
      where nspname !~ '^pg_(toast_)?temp'
      union all
      select 'extension', extname::text, extversion from pg_extension
      union all
      select 'relation', oid::regclass::text, concat(relkind, relacl, relrowsecurity) from pg_class
      where relnamespace not in ('pg_toast'::regnamespace)
      union all
      select 'column', concat(attrelid::regclass, '.', attname), concat(format_type(atttypid, atttypmod), attacl)
      from pg_attribute where attnum > 0 and not attisdropped and attrelid::regclass::text !~ '^pg_toast'
      union all
      select 'function', oid::regprocedure::text, concat(proacl, md5(prosrc)) from pg_proc
      union all
      select 'type', oid::regtype::text, concat(typtype, typacl) from pg_type where typname !~ '^_?pg_toast'
      union all
      select 'policy', concat(polrelid::regclass, ' ', polname), polcmd::text from pg_policy
      union all
      select 'trigger', concat(tgrelid::regclass, ' ', tgname), tgfoid::regprocedure::text from pg_trigger
      where not tgisinternal
      union all
      select 'constraint', concat(conrelid::regclass, ' ', conname), pg_get_constraintdef(oid) from pg_constraint
      union all
      select 'default rights', concat(defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype), defaclacl::text
      from pg_default_acl
      union all
      select 'role', rolname::text, concat(rolcanlogin, rolconfig) from pg_roles
      union all
      select 'member', concat(roleid::regrole, ' ', member::regrole), admin_option::text from pg_auth_members
      union all
      select 'published', concat(pubname, ' ', schemaname, '.', tablename), '' from pg_publication_tables
      union all
      select 'comment', concat(classoid::regclass, ' ', pg_describe_object(classoid, objoid, objsubid)), description
      from pg_description where objoid >= 16384
    )
    select concat_ws(' | ', kind, name, detail) as line from object order by 1`;
  const lines = rows.map(({ line }) => line);
  for (const [table, column] of ROWS) {
    const [found] = await sql`select to_regclass(${table}) is not null as exists`;
    if (found?.exists !== true) continue;
    const named = await sql.unsafe<{ name: string }[]>(`select ${column} as name from ${table}`);
    lines.push(...named.map(({ name }) => `${table} | ${name}`));
  }
  return lines;
}

/** Rows that are objects of an extension or of the platform, by their names. */
const ROWS = [
  ["cron.job", "jobname"],
  ["pgmq.meta", "queue_name"],
  ["storage.buckets", "id"],
  ["vault.secrets", "name"],
] as const;
