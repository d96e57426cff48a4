-- The platform's extensions: queues, outgoing HTTP, schedules, secrets, vectors.
-- Each is created only where it is missing. On a hosted project, scripts of Supabase run before and after `create
-- extension`, also with `if not exists` where the extension exists: that of pg_cron drops it and creates it again,
-- with which the project's jobs are gone and none runs until a restart, and that of pgmq fails.
do $$
begin
  if not exists (select from pg_catalog.pg_extension where extname = 'pgmq') then
    create extension pgmq;
  end if;
  if not exists (select from pg_catalog.pg_extension where extname = 'pg_net') then
    create extension pg_net with schema extensions;
  end if;
  if not exists (select from pg_catalog.pg_extension where extname = 'pg_cron') then
    create extension pg_cron;
  end if;
  if not exists (select from pg_catalog.pg_extension where extname = 'supabase_vault') then
    create extension supabase_vault;
  end if;
  if not exists (select from pg_catalog.pg_extension where extname = 'vector') then
    create extension vector with schema extensions;
  end if;
end;
$$;

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
