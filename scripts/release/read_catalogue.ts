import type { Sql } from "../../shared/platform/db/sql_client.ts";

/**
 * Lists what migrations have created, one sorted line per object and property, so that the lines of
 * two databases can be compared: schemas, tables, columns, constraints, indexes, triggers, policies,
 * functions, types, privileges, comments, default privileges, cron jobs, buckets and publications.
 * Objects of extensions and partitions, whose names depend on the date, are left out.
 *
 * @param connection As a role that can read the catalogs of all schemas.
 */
export async function readCatalogue(connection: Sql): Promise<string[]> {
  const rows = await connection.unsafe<{ line: string }[]>(CATALOGUE);
  return rows.map(({ line }) => line);
}

const CATALOGUE = `
with own_schema as (
  select oid, nspname, nspowner, nspacl from pg_namespace
  where nspname !~ '^(pg_|information_schema$)'
    and nspname not in ('supabase_migrations', 'cron', 'net', 'pgmq', 'vault', 'graphql', 'graphql_public')
    and not exists (select from pg_depend where objid = pg_namespace.oid and deptype = 'e')
),
own_relation as (
  select relation.*, format('%s.%s', nspname, relname) as name
  from pg_class as relation join own_schema on own_schema.oid = relation.relnamespace
  where relkind in ('r', 'p', 'v', 'm', 'S', 'i', 'I') and not relispartition
    and not exists (select from pg_depend where objid = relation.oid and deptype = 'e' and classid = 'pg_class'::regclass)
    -- Indexes of partitions, and sequences of TOAST, follow their tables.
    and not exists (
      select from pg_index join pg_class as part on part.oid = indrelid where indexrelid = relation.oid and part.relispartition
    )
),
own_function as (
  select procedure.*, format('%s.%s(%s)', nspname, proname, pg_get_function_identity_arguments(procedure.oid)) as name
  from pg_proc as procedure join own_schema on own_schema.oid = procedure.pronamespace
  where not exists (select from pg_depend where objid = procedure.oid and deptype = 'e' and classid = 'pg_proc'::regclass)
),
acl (kind, name, list, owner) as (
  select 'relation', name, relacl, relowner from own_relation where relkind in ('r', 'p', 'v', 'm', 'S')
  union all
  select 'column', format('%s.%s', name, attname), attacl, relowner
  from own_relation join pg_attribute on attrelid = own_relation.oid where attacl is not null and not attisdropped
  union all
  select 'function', name, coalesce(proacl, acldefault('f', proowner)), proowner from own_function
  union all
  select 'schema', nspname, nspacl, nspowner from own_schema
),
line (line) as (
  select format('schema %s', nspname) from own_schema
  union all
  select format('relation %s %s %s rls=%s %s', relkind, name, reloptions, relrowsecurity, case when relkind = 'v' then pg_get_viewdef(oid) end)
  from own_relation
  union all
  select format('column %s.%s %s%s%s default %s', name, attname, format_type(atttypid, atttypmod),
    case when attnotnull then ' not null' else '' end, attidentity::text || attgenerated::text, pg_get_expr(adbin, adrelid))
  from own_relation
  join pg_attribute on attrelid = own_relation.oid and attnum > 0 and not attisdropped
  left join pg_attrdef on adrelid = attrelid and adnum = attnum
  where relkind in ('r', 'p', 'v', 'm')
  union all
  select format('index %s', pg_get_indexdef(oid)) from own_relation where relkind in ('i', 'I')
  union all
  select format('constraint %s on %s: %s', conname, name, pg_get_constraintdef(pg_constraint.oid))
  from own_relation join pg_constraint on conrelid = own_relation.oid
  union all
  select format('trigger %s', pg_get_triggerdef(pg_trigger.oid))
  from own_relation join pg_trigger on tgrelid = own_relation.oid and not tgisinternal
  union all
  select format('policy %s on %s for %s to %s using (%s) with check (%s)', polname, name, polcmd,
    (select string_agg(role::regrole::text, ', ' order by role::regrole::text) from unnest(polroles) as role),
    pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid))
  from own_relation join pg_policy on polrelid = own_relation.oid
  union all
  select format('function %s: %s', name, case prokind when 'a' then 'aggregate' else pg_get_functiondef(oid) end) from own_function
  union all
  select format('type %s.%s %s', nspname, typname,
    (select string_agg(enumlabel, ', ' order by enumsortorder) from pg_enum where enumtypid = pg_type.oid))
  from pg_type join own_schema on own_schema.oid = typnamespace
  where typtype in ('e', 'd', 'r')
    and not exists (select from pg_depend where objid = pg_type.oid and deptype = 'e' and classid = 'pg_type'::regclass)
  union all
  select format('operator %s', oprcode::regprocedure) from pg_operator join own_schema on own_schema.oid = oprnamespace
  where not exists (select from pg_depend where objid = pg_operator.oid and deptype = 'e' and classid = 'pg_operator'::regclass)
  union all
  select format('grant %s on %s %s to %s', right_of.privilege_type, kind, name,
    case right_of.grantee when 0 then 'public' else right_of.grantee::regrole::text end)
  from acl, aclexplode(list) as right_of where right_of.grantee <> owner
  union all
  select format('comment on %s: %s', name, description)
  from own_relation join pg_description on objoid = own_relation.oid and classoid = 'pg_class'::regclass and objsubid = 0
  union all
  select format('comment on column %s.%s: %s', name, attname, description)
  from own_relation
  join pg_attribute on attrelid = own_relation.oid
  join pg_description on objoid = attrelid and classoid = 'pg_class'::regclass and objsubid = attnum
  union all
  select format('comment on function %s: %s', name, description)
  from own_function join pg_description on objoid = own_function.oid and classoid = 'pg_proc'::regclass
  union all
  select format('comment on schema %s: %s', nspname, description)
  from own_schema join pg_description on objoid = own_schema.oid and classoid = 'pg_namespace'::regclass
  union all
  select format('default privileges of %s in %s for %s: %s', defaclrole::regrole, defaclnamespace::regnamespace, defaclobjtype, defaclacl)
  from pg_default_acl
  union all
  select format('cron job %s at %s: %s', jobname, schedule, command) from cron.job
  union all
  select format('bucket %s', id) from storage.buckets
  union all
  select format('publication %s of %s', pubname, prrelid::regclass)
  from pg_publication join pg_publication_rel on prpubid = pg_publication.oid
  union all
  select format('role %s', rolname) from pg_roles
  union all
  select format('extension %s', extname) from pg_extension
)
select line from line order by line collate "C"`;
