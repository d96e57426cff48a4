-- The platform's extensions: queues, outgoing HTTP, schedules, secrets, vectors.
-- pgmq has no "if not exists": in a project that already has queues, the script that the platform runs
-- before `create extension pgmq` fails.
do $$
begin
  if not exists (select from pg_catalog.pg_extension where extname = 'pgmq') then
    create extension pgmq;
  end if;
end;
$$;
create extension if not exists pg_net with schema extensions;
create extension if not exists pg_cron;
create extension if not exists supabase_vault;
create extension if not exists vector with schema extensions;

create schema private;
comment on schema private is
  'Everything that is not a public API: PostgREST never exposes this schema. Workers call its functions over the database connection.';
-- Policies and the public wrappers call functions in this schema with the caller's rights.
grant usage on schema private to authenticated, service_role;

-- The project's own objects, so that object_names.sql can list those of the platform.
create table private.project_objects as
  select relname::text as name from pg_catalog.pg_class where relnamespace = 'public'::regnamespace
  union
  select typname::text from pg_catalog.pg_type where typnamespace = 'public'::regnamespace;
