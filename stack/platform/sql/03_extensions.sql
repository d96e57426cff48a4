-- Extensions of every new project. Migrations create the other available ones (vector, pgmq,
-- pg_cron, pg_net).

do $$
declare
  missing text := (
    select string_agg(wanted.name, ', ')
    from unnest(array['pgcrypto', 'uuid-ossp', 'supabase_vault']) as wanted(name)
    where not exists (select from pg_available_extensions where name = wanted.name)
  );
begin
  if missing is not null then
    raise exception 'Cannot prepare the server: required extensions are missing: %', missing
      using hint = 'Install the server''s contrib package and run the SupaSwarm installer.';
  end if;
end;
$$;

create extension if not exists pgcrypto with schema extensions;
create extension if not exists "uuid-ossp" with schema extensions;
create extension if not exists supabase_vault;
