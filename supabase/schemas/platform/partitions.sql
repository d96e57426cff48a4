-- Append-only tables are partitioned by the creation time of the task, which is part of its id: a lookup
-- by task_id reads one partition, and retention drops whole partitions.

create function private.partitioned_table(p_name text)
returns regclass
language sql
stable
set search_path = ''
as $$
  select child.inhparent::regclass
  from pg_catalog.pg_inherits as child
  where child.inhrelid = format('private.%I', p_name || '_other')::regclass;
$$;
comment on function private.partitioned_table(text) is 'The table with partitions of this name, whose schema is public or private.';

create function private.make_partition(p_table text, p_unit text, p_at timestamptz)
returns boolean
language plpgsql
set search_path = ''
-- Waiting for the lock blocks all writers, so give up early; the next call tries again. After one second,
-- deadlock_timeout, Postgres ends an autovacuum that holds the lock.
set lock_timeout = '1500ms'
as $$
declare
  v_from constant timestamp := date_trunc(p_unit, p_at at time zone 'utc');
  v_first_id constant uuid := private.first_id_of(v_from at time zone 'utc');
  v_next_id constant uuid := private.first_id_of((v_from + ('1 ' || p_unit)::interval) at time zone 'utc');
  v_name constant text := p_table || to_char(v_from, case p_unit when 'week' then '_IYYY"w"IW' else '_YYYY"m"MM' end);
  v_is_in_use boolean;
begin
  if to_regclass(format('private.%I', v_name)) is not null then
    return false;
  end if;
  -- If the default partition already has rows of this range, all rows of the range stay there.
  execute format('select exists (select from private.%I where task_id >= $1 and task_id < $2)', p_table || '_other')
  into v_is_in_use
  using v_first_id, v_next_id;
  if v_is_in_use then
    return false;
  end if;
  execute format(
    'create table private.%I partition of %s for values from (%L) to (%L) '
    'with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, '
    'autovacuum_analyze_scale_factor = 0.05)',
    v_name, private.partitioned_table(p_table), v_first_id, v_next_id
  );
  execute format('alter table private.%I enable row level security', v_name);
  execute format('revoke all on private.%I from anon, authenticated, service_role', v_name);
  execute format('comment on table private.%I is %L', v_name,
    format('Rows of %s for tasks created in the %s from %s, UTC.', private.partitioned_table(p_table), p_unit, v_from::date));
  return true;
end;
$$;
comment on function private.make_partition(text, text, timestamptz) is
  'Creates the partition of a table for the week or month of a time. Returns false when it exists, or when the default partition already has rows of that range.';

create function private.make_partitions()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_next record;
  v_count int := 0;
begin
  for v_next in
    select grown.name, grown.unit, clock_timestamp() + place * ('1 ' || grown.unit)::interval as at
    from (values ('task_events', 'week', 2), ('task_steps', 'week', 2)) as grown (name, unit, ahead)
    cross join lateral generate_series(0, grown.ahead) as place
    order by at
  loop
    v_count := v_count + private.make_partition(v_next.name, v_next.unit, v_next.at)::int;
  end loop;
  return v_count;
end;
$$;
comment on function private.make_partitions() is
  'Creates missing partitions for the current and the next two weeks, and returns how many. Called by cron. If it does not run for longer than that, rows go to the default partition.';

create function private.partitions_before(p_table text, p_before timestamptz)
returns table (partition regclass, first_id uuid, next_id uuid)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    select part.oid::regclass, bound.first_id, bound.next_id
    from pg_catalog.pg_inherits as child
    join pg_catalog.pg_class as part on part.oid = child.inhrelid
    cross join lateral (select pg_catalog.pg_get_expr(part.relpartbound, part.oid) as text) as printed
    cross join lateral (
      select
        substring(printed.text from $re$FROM \('([^']+)'\)$re$)::uuid as first_id,
        substring(printed.text from $re$TO \('([^']+)'\)$re$)::uuid as next_id
    ) as bound
    where child.inhparent = private.partitioned_table(p_table)
      and bound.next_id <= private.first_id_of(p_before)
    order by bound.next_id;
end;
$$;
comment on function private.partitions_before(text, timestamptz) is
  'The partitions whose tasks were all created before a time, oldest first, each with its first id and the first id after it.';
