-- Schemas of the platform and their grants. They belong to the superuser, so that only the platform
-- can create objects in them.

create schema if not exists extensions;
create schema if not exists auth;
create schema if not exists storage;
create schema if not exists realtime;
create schema if not exists graphql_public;

grant usage on schema extensions to anon, authenticated, service_role;
grant all on schema extensions to postgres;
grant usage on schema auth to anon, authenticated, service_role, postgres, supabase_auth_admin;
grant usage on schema storage to anon, authenticated, service_role, postgres, supabase_storage_admin;
grant usage on schema realtime to anon, authenticated, service_role, postgres, supabase_realtime_admin;
grant usage on schema graphql_public to anon, authenticated, service_role, postgres;
grant usage on schema auth, storage, realtime to supaswarm_platform_owner;
grant usage on schema public to anon, authenticated, service_role;
grant all on schema public to postgres;
