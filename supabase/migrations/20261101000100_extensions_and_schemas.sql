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

-- The project's own objects, so that the last migration can list those of the platform.
create table private.project_objects as
  select relname::text as name from pg_catalog.pg_class where relnamespace = 'public'::regnamespace
  union
  select typname::text from pg_catalog.pg_type where typnamespace = 'public'::regnamespace;

-- No role may use what these migrations create until they grant it. This overrides two defaults: Postgres lets
-- PUBLIC execute every function, and the platform grants objects in public to the API roles. Only a default
-- without a schema can revoke the right of PUBLIC. The last migration restores the project's own defaults.
create table private.default_privileges as
  select defaults.scope, defaults.objects, acl.privilege_type, acl.grantee
  from (
    values ('', 0::oid, 'f'::"char", 'functions'),
      ('in schema public', 'public'::regnamespace, 'f', 'functions'),
      ('in schema public', 'public'::regnamespace, 'r', 'tables'),
      ('in schema public', 'public'::regnamespace, 'S', 'sequences')
  ) as defaults (scope, schema_id, object_type, objects)
  left join pg_catalog.pg_default_acl as stated
    on stated.defaclrole = current_user::regrole and stated.defaclnamespace = defaults.schema_id
      and stated.defaclobjtype = defaults.object_type
  cross join aclexplode(coalesce(
    stated.defaclacl, case when defaults.scope = '' then acldefault('f', current_user::regrole) end
  )) as acl
  where acl.grantee = 0
    or acl.grantee in (select oid from pg_catalog.pg_roles where rolname in ('anon', 'authenticated', 'service_role'));
alter default privileges revoke all on functions from public;
alter default privileges in schema public revoke all on functions from anon, authenticated, service_role;
alter default privileges in schema public revoke all on tables from anon, authenticated, service_role;
alter default privileges in schema public revoke all on sequences from anon, authenticated, service_role;
