-- The roles of a Supabase project. Each is created only where it is missing: the embedded server
-- starts with a superuser `postgres`, a native cluster with the superuser `supabase_admin` and a
-- `postgres` that is, as on a hosted project, not a superuser.

do $$
declare
  role record;
begin
  for role in
    select * from (values
      ('supabase_admin', 'superuser createdb createrole replication bypassrls login'),
      ('postgres', 'createdb createrole replication bypassrls login'),
      ('anon', 'nologin'),
      ('authenticated', 'nologin'),
      ('service_role', 'nologin bypassrls'),
      ('authenticator', 'login noinherit'),
      ('supabase_auth_admin', 'login noinherit createrole'),
      ('supabase_storage_admin', 'login noinherit createrole'),
      ('supabase_realtime_admin', 'nologin noinherit'),
      ('supaswarm_platform_owner', 'nologin')
    ) as wanted(name, attributes)
    where not exists (select from pg_roles where rolname = wanted.name)
  loop
    execute format('create role %I %s', role.name, role.attributes);
  end loop;
end;
$$;

grant anon, authenticated, service_role to authenticator;
grant anon, authenticated, service_role, authenticator to postgres with admin option;
grant pg_monitor, pg_read_all_data, pg_signal_backend to postgres with admin option;

-- On a hosted project, an extension lets `postgres` create policies and triggers on the platform's
-- tables, but `postgres` cannot become the roles that own them. Here these tables belong to a
-- separate role with the member `postgres`, and an event trigger refuses everything else.
grant supaswarm_platform_owner to postgres;

alter role anon set statement_timeout = '3s';
alter role authenticated set statement_timeout = '8s';
alter role authenticator set statement_timeout = '8s';
alter role authenticator set lock_timeout = '8s';
-- With the backslash of hosted projects, so that a schema with the user's name does not come first.
alter role postgres set search_path = "\$user", public, extensions;
alter role supabase_admin set search_path = "$user", public, auth, extensions;
alter role supabase_auth_admin set search_path = auth;
alter role supabase_storage_admin set search_path = storage;

do $$
begin
  execute format('alter database %I set timezone to ''UTC''', current_database());
  execute format('alter database %I owner to postgres', current_database());
  execute format('grant create on database %I to postgres', current_database());
end;
$$;

grant set on parameter session_replication_role to postgres;
