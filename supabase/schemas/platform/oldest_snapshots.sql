-- Snapshots that keep vacuum from removing dead row versions. A queue constantly writes new versions of the
-- same few rows: the longer a snapshot is held, the more dead versions each claim must skip.

create function private.held_snapshots()
returns table (
  holder text, name text, application text, state text, age_seconds numeric, age_transactions bigint
)
language sql
security definer
set search_path = ''
as $$
  select held.holder, held.name, held.application, held.state,
    extract(epoch from clock_timestamp() - held.since)::numeric(12, 1),
    age(held.xmin)::bigint
  from (
    select 'session' as holder, pid::text as name, application_name as application, state, xact_start as since,
      coalesce(backend_xmin, backend_xid) as xmin
    from pg_catalog.pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
    union all
    select 'prepared transaction', gid, null, 'prepared', prepared, transaction
    from pg_catalog.pg_prepared_xacts
    union all
    select 'replication slot', slot_name, plugin, case when active then 'active' else 'inactive' end, null,
      case when age(xmin) > age(catalog_xmin) then xmin else coalesce(catalog_xmin, xmin) end
    from pg_catalog.pg_replication_slots
    where database is null or database = current_database()
  ) as held
  where held.xmin is not null;
$$;
comment on function private.held_snapshots() is
  'See public.oldest_snapshots. Definer: only members of pg_monitor can read the snapshots of other sessions.';
grant execute on function private.held_snapshots() to service_role;

create view public.oldest_snapshots with (security_invoker = true) as
  select held.holder, held.name, held.application, held.state, held.age_seconds, held.age_transactions
  from private.held_snapshots() as held
  order by held.age_seconds desc nulls last, held.age_transactions desc;
revoke all on public.oldest_snapshots from anon, authenticated, service_role;
comment on view public.oldest_snapshots is
  'Sessions, prepared transactions and replication slots of this database that keep vacuum from removing old row versions, oldest first. For a slot, only the age in transactions is known. For the service.';
grant select on public.oldest_snapshots to service_role;
