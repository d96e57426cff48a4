-- Default privileges of new objects in `public`, as on a hosted project today. API roles get no data
-- privileges on new tables, sequences and functions, so a migration must grant each. The rest of
-- the former "grant all", such as TRUNCATE, cannot be used through the API.

do $$
declare
  owner text;
begin
  foreach owner in array array['postgres', 'supabase_admin'] loop
    execute format(
      'alter default privileges for role %I in schema public
         grant all on tables to postgres, anon, authenticated, service_role', owner);
    execute format(
      'alter default privileges for role %I in schema public
         grant all on sequences to postgres, anon, authenticated, service_role', owner);
    execute format(
      'alter default privileges for role %I in schema public
         grant all on functions to postgres, anon, authenticated, service_role', owner);
  end loop;
end;
$$;

alter default privileges for role postgres in schema public
  revoke select, insert, update, delete on tables from anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  revoke usage, select on sequences from anon, authenticated, service_role;
alter default privileges for role postgres in schema public
  revoke execute on functions from anon, authenticated, service_role;
