-- The release of this database. Functions and clients compare it with the one that they were written for.

create table private.releases (
  version text primary key,
  installed_at timestamptz not null default clock_timestamp()
);
comment on table private.releases is
  'The releases that were installed in this database, each by one migration. Written only by migrations.';
alter table private.releases enable row level security;
insert into private.releases (version) values ('0.1.0');

create function private.schema_version()
returns text
language sql
immutable
set search_path = ''
as $$
  select '0.1.0';
$$;
comment on function private.schema_version() is
  'The release of this database, such as 0.1.0. Each release replaces it. Workers, endpoints and commands compare it with the release of their code.';
grant execute on function private.schema_version() to authenticated, service_role;

create function public.schema_version()
returns text
language sql
immutable
set search_path = ''
as $$
  select private.schema_version();
$$;
comment on function public.schema_version() is
  'The release of this database, such as 0.1.0, which a client compares with its own. For signed-in users and the service.';
revoke all on function public.schema_version() from public, anon, authenticated, service_role;
grant execute on function public.schema_version() to authenticated, service_role;
