-- Kinds of work: what workers claim, hold with a lease and release. Each kind is a table; the functions
-- that manage its leases are created from the templates in this file.
--
-- The table of a kind has the columns
--   id uuid, status text ('pending', 'running' and how it may end), epoch bigint, deliveries int,
--   worker_id text, lease_expires_at timestamptz, run_after timestamptz, started_at timestamptz
-- and a CHECK that exactly the running rows have a lease and a worker. The kind's claim function decides
-- which rows run next, and the functions that end its work decide what happens to a row afterwards.

create table private.work_kinds (
  noun text primary key check (noun ~ '^[a-z_]+$'),
  table_name text not null,
  function_name text not null
);
comment on table private.work_kinds is
  'The kinds of work: the noun in the names of the functions created for the kind, its table, and the edge function whose workers do the work.';
alter table private.work_kinds enable row level security;

create function private.create_work_kind(
  p_noun text, p_table regclass, p_function_name text, p_channel text default null, p_also_at_start text default null
)
returns void
language plpgsql
set search_path = ''
as $create$
begin
  insert into private.work_kinds (noun, table_name, function_name)
  values (p_noun, p_table::text, p_function_name);
  insert into private.wake_gate (name)
  select name from unnest(array[p_function_name, p_channel]) as name where name is not null;

  execute format($template$
    create function private.start_%1$ss(p_ids uuid[], p_worker_id text, p_lease_seconds int)
    returns setof %2$s
    language plpgsql
    set search_path = ''
    as $$
    begin
      return query
        update %2$s as work
        set status = 'running',
            epoch = greatest(work.epoch + 1, (extract(epoch from clock_timestamp()) * 1000000)::bigint),
            deliveries = work.deliveries + 1,
            worker_id = p_worker_id,
            lease_expires_at = clock_timestamp() + make_interval(secs => p_lease_seconds),
            run_after = null,
            started_at = coalesce(work.started_at, clock_timestamp())%3$s
        where work.id = any (p_ids)
        returning work.*;
    end;
    $$;
    comment on function private.start_%1$ss is
      'Gives a worker the leases of rows, each with a new epoch, and returns the rows. The caller has locked them and has checked that they may run.';
    revoke all on function private.start_%1$ss from public;

    create function private.hold_%1$s(p_%1$s_id uuid, p_epoch bigint, p_lease_seconds int)
    returns %2$s
    language plpgsql
    set search_path = ''
    as $$
    declare
      v_now constant timestamptz := clock_timestamp();
      v_work %2$s;
    begin
      select * into v_work from %2$s where id = p_%1$s_id for no key update;
      if v_work.epoch is distinct from p_epoch or v_work.status is distinct from 'running' then
        perform private.raise_error('LEASE_LOST',
          format('Cannot write to %1$s %%s: epoch %%s does not hold its lease', p_%1$s_id, p_epoch),
          'Stop working on the %1$s: another worker has it, or it has ended.');
      end if;
      -- A renewal rewrites the row, so a recently renewed lease is kept as it is.
      if v_work.lease_expires_at < v_now + make_interval(secs => p_lease_seconds * 5 / 6.0) then
        v_work.lease_expires_at := v_now + make_interval(secs => p_lease_seconds);
        update %2$s set lease_expires_at = v_work.lease_expires_at where id = p_%1$s_id;
      end if;
      return v_work;
    end;
    $$;
    comment on function private.hold_%1$s(uuid, bigint, int) is
      'The fence for every write of a worker: locks the row and returns it with a lease of which at least five sixths remain, or raises LEASE_LOST. With a null p_lease_seconds it does not renew the lease, because the caller ends it.';
    revoke all on function private.hold_%1$s(uuid, bigint, int) from public;

    create function private.renew_%1$ss(p_leases jsonb, p_lease_seconds int)
    returns table (id uuid, epoch bigint, is_held boolean)
    language plpgsql
    set search_path = ''
    as $$
    #variable_conflict use_column
    begin
      return query
        with lease as materialized (
          select entry.id, entry.epoch from jsonb_to_recordset(p_leases) as entry (id uuid, epoch bigint)
        ),
        free as materialized (
          -- A row that another transaction has locked waits for the next heartbeat: waiting here could
          -- deadlock. A foreign key lock, as a new event takes on its task, does not conflict.
          select work.id
          from %2$s as work
          join lease on lease.id = work.id and lease.epoch = work.epoch
          where work.status = 'running'
          for no key update of work skip locked
        ),
        renewed as (
          update %2$s as work
          set lease_expires_at = clock_timestamp() + make_interval(secs => p_lease_seconds)
          from free
          where work.id = free.id
          returning work.id
        )
        select lease.id, lease.epoch, work.id is not null
        from lease
        left join %2$s as work
          on work.id = lease.id and work.epoch = lease.epoch and work.status = 'running';
    end;
    $$;
    comment on function private.renew_%1$ss(jsonb, int) is
      'Renews the leases [{id, epoch}] of a worker in one statement and returns for each whether the worker still holds it.';
    revoke all on function private.renew_%1$ss(jsonb, int) from public;

    create function private.release_%1$s(p_%1$s_id uuid, p_run_after timestamptz)
    returns void
    language plpgsql
    set search_path = ''
    as $$
    begin
      update %2$s
      set status = 'pending', worker_id = null, lease_expires_at = null, run_after = p_run_after
      where id = p_%1$s_id;
    end;
    $$;
    comment on function private.release_%1$s(uuid, timestamptz) is
      'Ends a lease and sets the row to pending, not to be claimed before p_run_after (null: now). The caller holds the lease.';
    revoke all on function private.release_%1$s(uuid, timestamptz) from public;
  $template$, p_noun, p_table, coalesce(', ' || p_also_at_start, ''));
end;
$create$;
comment on function private.create_work_kind(text, regclass, text, text, text) is
  'Declares a kind of work and creates its functions start_<noun>s(), hold_<noun>(), renew_<noun>s() and release_<noun>(). p_channel: the channel on which workers of the kind listen. p_also_at_start: assignments that a claim makes in the same statement, where "work" is the row. Called by migrations.';

create function private.wake_for_due_work()
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_kind private.work_kinds;
  v_is_due boolean;
begin
  for v_kind in select * from private.work_kinds order by noun loop
    begin
      execute format(
        'select exists (select from %1$s where status = ''pending'' and (run_after is null or run_after <= clock_timestamp()))
          -- A lease that ends before the next tick: its worker missed a heartbeat and may be dead.
          -- A worker of tasks that wakes now still runs then.
          or exists (select from %1$s where status = ''running'' and lease_expires_at <= clock_timestamp() + interval ''15 seconds'')',
        v_kind.table_name::regclass
      ) into v_is_due;
      if v_is_due then
        perform private.wake_function(v_kind.function_name);
      end if;
    exception when others then
      perform private.record_maintenance_failure('wake_for_due_work', v_kind.noun, sqlstate, sqlerrm);
    end;
  end loop;
end;
$$;
comment on function private.wake_for_due_work() is
  'Wakes the edge function of each kind that has due work, or whose leases will expire before the next tick because a worker seems to have died. Called by cron, through tick().';
