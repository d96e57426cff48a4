-- What the platform brings: queues, outgoing HTTP, schedules, secrets.
-- Not "if not exists": in a project whose queues are in use already, the platform's own script
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

create schema private;
comment on schema private is
  'Everything that is not an API: PostgREST never exposes this schema. Workers call its functions over the database connection.';
revoke all on schema private from public;
-- Policies and the public wrappers call functions in here as the caller.
grant usage on schema private to authenticated, service_role;
