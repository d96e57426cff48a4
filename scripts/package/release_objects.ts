import type { ReleaseObjects } from "../../client/command/release/release.ts";
import type { Sql } from "../../shared/platform/db/sql_client.ts";
import { markNames } from "./mark_names.ts";

/**
 * Reads what the platform has created outside of schema `private`, from a database that has nothing
 * else.
 */
export async function readReleaseObjects(sql: Sql): Promise<ReleaseObjects> {
  const objects = await sql.begin(async (tx) => {
    await tx`set local search_path = ''`;
    const [row] = await tx<ReleaseObjects[]>`
      select
        (select jsonb_agg(name order by name) from (
          select relname::text as name from pg_catalog.pg_class
          where relnamespace = 'public'::regnamespace and relkind not in ('i', 'I')
          union
          select typname::text from pg_catalog.pg_type
          where typnamespace = 'public'::regnamespace and typname !~ '^_'
          union
          select proname::text from pg_catalog.pg_proc where pronamespace = 'public'::regnamespace
        ) as object) as names,
        (select jsonb_agg(oid::regprocedure::text order by oid::regprocedure::text) from pg_catalog.pg_proc
          where pronamespace = 'public'::regnamespace) as routines,
        (select jsonb_agg(nspname order by nspname) from pg_catalog.pg_namespace where nspname ~ '^supaswarm_') as schemas,
        (select jsonb_agg(jobname order by jobname) from cron.job) as "cronJobs",
        (select jsonb_agg(queue_name order by queue_name) from pgmq.meta) as queues,
        (select jsonb_agg(id order by id) from storage.buckets) as buckets,
        (select jsonb_agg(jsonb_build_object('name', polname, 'table', polrelid::regclass::text) order by polname)
          from pg_catalog.pg_policy join pg_catalog.pg_class as relation on relation.oid = polrelid
          where relnamespace in ('storage'::regnamespace, 'realtime'::regnamespace)) as policies,
        (select jsonb_agg(jsonb_build_object('name', tgname, 'table', tgrelid::regclass::text) order by tgname)
          from pg_catalog.pg_trigger
          join pg_catalog.pg_class as relation on relation.oid = tgrelid
          join pg_catalog.pg_proc as routine on routine.oid = tgfoid
          where not tgisinternal and pronamespace = 'private'::regnamespace
            and relnamespace in ('auth'::regnamespace, 'storage'::regnamespace, 'realtime'::regnamespace)) as triggers`;
    return row;
  });
  if (objects === undefined) throw new Error("Cannot read the objects of the platform");
  const names = new Set(objects.names);
  return { ...objects, routines: objects.routines.map((text) => markNames(text, names)) };
}
