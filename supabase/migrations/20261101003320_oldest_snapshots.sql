-- What keeps dead row versions from being cleared away. A queue writes new versions of the same few
-- rows all the time: the longer one snapshot is held, the more of them each claim has to pass over.

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
  'See public.oldest_snapshots. Definer: only members of pg_monitor see what other sessions hold.';
grant execute on function private.held_snapshots() to service_role;

create view public.oldest_snapshots with (security_invoker = true) as
  select held.holder, held.name, held.application, held.state, held.age_seconds, held.age_transactions
  from private.held_snapshots() as held
  order by held.age_seconds desc nulls last, held.age_transactions desc;
comment on view public.oldest_snapshots is
  'Sessions, prepared transactions and replication slots of this database that keep old row versions from being cleared away, the oldest first; of a slot the age is known in transactions only. For the service.';
grant select on public.oldest_snapshots to service_role;
