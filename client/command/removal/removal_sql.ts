import type { Manifest } from "../project/manifest.ts";
import { fillNames, privateSchema } from "../release/fill_names.ts";
import type { ReleaseObjects } from "../release/release.ts";
import { dropCreatedExtensions, noteCreatedExtensions } from "./drop_extensions.ts";

/**
 * The SQL that removes an installation from a database, in one transaction. It changes nothing if
 * an object of the project depends on the platform.
 */
export function removalSql(manifest: Manifest, objects: ReleaseObjects): string {
  const { schema } = manifest;
  const fill = (text: string) => fillNames(text, manifest);
  const versions = manifest.migrations.map((path) => /(\d+)_[^/]*$/.exec(path)?.[1] ?? "");
  return [
    "-- Removes SupaSwarm and its data. Run it as role postgres.",
    "begin;",
    "set local search_path = '';",
    "-- Direct deletes from Storage's tables need this setting.",
    "set local storage.allow_delete_query = 'true';",
    `delete from cron.job_run_details where jobid in (select jobid from cron.job where jobname in (${
      list(objects.cronJobs)
    }));`,
    `select cron.unschedule(jobid) from cron.job where jobname in (${list(objects.cronJobs)});`,
    ...objects.policies.map(({ name, table }) =>
      `drop policy if exists ${identifier(name)} on ${table};`
    ),
    ...objects.triggers.map(({ name, table }) =>
      `drop trigger if exists ${identifier(name)} on ${table};`
    ),
    dropRowTriggers(privateSchema(schema)),
    ...objects.queues.map((queue) => `select pgmq.drop_queue('${queue}');`),
    `delete from storage.objects where bucket_id in (${list(objects.buckets)});`,
    `delete from storage.buckets where id in (${list(objects.buckets)});`,
    dependentsGuard(schema, [privateSchema(schema), ...objects.schemas], objects.names),
    dropRole(privateSchema(schema)),
    noteCreatedExtensions(privateSchema(schema)),
    "delete from vault.secrets",
    "where name in ('supaswarm_wake_token', 'supaswarm_caller_password', 'supaswarm_signal_key')",
    "or name like 'supaswarm/%';",
    ...schema === "public"
      ? dropFromPublic(objects, fill)
      : [`drop schema ${[schema, privateSchema(schema), ...objects.schemas].join(", ")} cascade;`],
    dropCreatedExtensions(),
    forgetMigrations(versions),
    "commit;",
    "",
  ].join("\n");
}

/** The triggers on the project's tables that start jobs. */
function dropRowTriggers(inner: string): string {
  return `do $$
declare
  v_trigger record;
begin
  for v_trigger in
    select tgname, tgrelid from pg_catalog.pg_trigger
    where tgfoid = to_regprocedure('${inner}.record_row_starts()')
  loop
    execute pg_catalog.format('drop trigger %I on %s', v_trigger.tgname, v_trigger.tgrelid::regclass);
  end loop;
end;
$$;`;
}

/** Drops what depends only on the platform itself; the guard has proven that. */
function dropFromPublic(
  { names, routines, schemas }: ReleaseObjects,
  fill: (text: string) => string,
): string[] {
  return [
    `drop schema ${["private", ...schemas].join(", ")} cascade;`,
    `do $$
declare
  v_object record;
begin
  for v_object in
    select relname as name, case relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end as kind
    from pg_catalog.pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'S') and relname in (${
      list(names)
    })
    -- Views before tables, and tables before their sequences.
    order by kind desc
  loop
    execute pg_catalog.format('drop %s if exists public.%I cascade', v_object.kind, v_object.name);
  end loop;
end;
$$;`,
    ...routines.map((signature) => `drop function if exists ${fill(signature)} cascade;`),
    `do $$
declare
  v_name text;
begin
  for v_name in
    select typname from pg_catalog.pg_type
    where typnamespace = 'public'::regnamespace and typtype in ('e', 'c', 'd') and typname in (${
      list(names)
    })
  loop
    execute pg_catalog.format('drop type if exists public.%I cascade', v_name);
  end loop;
end;
$$;`,
  ];
}

function dependentsGuard(
  schema: string,
  inner: readonly string[],
  names: readonly string[],
): string {
  const schemas = (schema === "public" ? inner : [schema, ...inner])
    .map((name) => `'${name}'::regnamespace`).join(", ");
  const own = (schemaColumn: string, nameColumn: string) =>
    schema === "public"
      ? `${schemaColumn} in (${schemas}) or ${schemaColumn} = 'public'::regnamespace and ${nameColumn} in (${
        list(names)
      })`
      : `${schemaColumn} in (${schemas})`;
  return `do $$
declare
  v_dependents text;
begin
  with own (class_id, id) as (
    select 'pg_catalog.pg_class'::regclass, oid from pg_catalog.pg_class where ${
    own("relnamespace", "relname")
  }
    union all
    select 'pg_catalog.pg_proc'::regclass, oid from pg_catalog.pg_proc where ${
    own("pronamespace", "proname")
  }
    union all
    select 'pg_catalog.pg_operator'::regclass, oid from pg_catalog.pg_operator where oprnamespace in (${schemas})
    union all
    select 'pg_catalog.pg_type'::regclass, oid from pg_catalog.pg_type where ${
    own("typnamespace", "ltrim(typname, '_')")
  }
  ), dependent as (
    select distinct depend.classid, depend.objid, depend.objsubid,
      coalesce(
        (select ev_class from pg_catalog.pg_rewrite where oid = depend.objid),
        (select indrelid from pg_catalog.pg_index where indexrelid = depend.objid),
        (select adrelid from pg_catalog.pg_attrdef where oid = depend.objid),
        (select nullif(conrelid, 0) from pg_catalog.pg_constraint where oid = depend.objid),
        (select tgrelid from pg_catalog.pg_trigger where oid = depend.objid),
        (select polrelid from pg_catalog.pg_policy where oid = depend.objid)
      ) as table_id
    from pg_catalog.pg_depend as depend
    join own on own.class_id = depend.refclassid and own.id = depend.refobjid
    where depend.deptype in ('n', 'a') and depend.classid <> 'pg_catalog.pg_publication_rel'::regclass
  )
  select string_agg(pg_catalog.pg_describe_object(classid, objid, objsubid), ', ') into v_dependents
  from dependent
  where not exists (select from own where own.class_id = dependent.classid and own.id = dependent.objid)
    and not exists (
      select from own where own.class_id = 'pg_catalog.pg_class'::regclass and own.id = dependent.table_id
    );
  if v_dependents is not null then
    raise exception 'Cannot remove SupaSwarm: these objects of the project depend on it: %', v_dependents
      using hint = 'Drop or change them first. Nothing was removed.';
  end if;
end;
$$;`;
}

function dropRole(inner: string): string {
  return `do $$
declare
  v_role text := ${inner}.caller_login_name();
begin
  if exists (select from pg_catalog.pg_roles where rolname = v_role) then
    perform pg_catalog.pg_terminate_backend(pid) from pg_catalog.pg_stat_activity where usename = v_role;
    execute pg_catalog.format('drop role %I', v_role);
  end if;
end;
$$;`;
}

function forgetMigrations(versions: readonly string[]): string {
  return `do $$
begin
  if to_regclass('supabase_migrations.schema_migrations') is not null then
    delete from supabase_migrations.schema_migrations where version in (${list(versions)});
  end if;
end;
$$;`;
}

function list(values: readonly string[]): string {
  return values.map((value) => `'${value.replaceAll("'", "''")}'`).join(", ") || "null";
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
