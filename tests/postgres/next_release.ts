import { SCHEMA_VERSION } from "../../shared/platform/db/schema_version.ts";

/** The version of {@linkcode RELEASE}. */
export const NEXT = "0.2.0";

/**
 * A later release as they are written: one transaction. It waits for a lock longer than
 * deadlock_timeout, a second, after which Postgres ends an autovacuum that holds the lock.
 */
export const RELEASE = `
set local lock_timeout = '1500ms';
do $preflight$
begin
  if private.schema_version() <> '${SCHEMA_VERSION}' then
    raise exception 'Cannot upgrade to ${NEXT}: the database has release %', private.schema_version();
  end if;
end;
$preflight$;
create table private.labels (name text primary key);
comment on table private.labels is 'Labels of tasks.';
alter table private.labels enable row level security;
revoke all on private.labels from anon, authenticated, service_role;
-- A table and a function of the hot path.
alter table public.tasks add column label text;
comment on column public.tasks.label is 'For the owner.';
do $same$
begin
  execute pg_get_functiondef('private.claim_tasks'::regproc);
end;
$same$;
create or replace function private.schema_version() returns text language sql immutable set search_path = ''
as $$ select '${NEXT}' $$;
insert into private.releases (version) values ('${NEXT}');
`;
