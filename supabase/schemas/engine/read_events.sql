-- Reading the events of a job page by page without losing one.
--
-- Ids are assigned when an event is written, but become visible when its transaction commits. Subtasks commit in
-- any order, so an event may become visible after one with a higher id. The events of a row of task_events, whose ids
-- begin with 64 times the id of the row, are written and become visible together. Two rules make reading safe:
--
-- 1. An event is written only while its transaction holds the lock of the task's row, so the events of one task
--    become visible in the order of their ids. A cursor with the last id of each task loses nothing.
-- 2. Such a transaction has its transaction id before it takes the event's id. If the reader takes a transaction
--    id of its own after it has seen event n, every transaction that took an id up to n has a lower one. Once all
--    transactions below the reader's have ended, no event up to n can appear anymore.
--
-- A cursor is therefore ".base", or ".base.settling.transaction.last.last…": all events up to base were returned;
-- those up to settling will have become visible when all transactions below transaction have ended, and base
-- moves there; last is the last returned id of each task that has events above base. Every number but the
-- first and transaction is the difference to base or to the last before it. A cursor without the first point has ids
-- of rows that were one event each.

create type private.event_cursor as (base bigint, settling bigint, transaction xid8, last_ids bigint[]);
comment on type private.event_cursor is 'What a reader of events has read. See public.read_events().';

create function private.parse_event_cursor(p_cursor text, p_task public.tasks)
returns private.event_cursor
language plpgsql
stable
set search_path = ''
as $$
declare
  -- A number and its point.
  c_number_characters constant int := 19;
  c_max_short_characters constant int := 2000;
  v_parts bigint[];
  v_max_characters int := c_max_short_characters;
begin
  -- A cursor has three numbers and one for each task; reading more of them takes seconds.
  if length(p_cursor) > v_max_characters then
    v_max_characters := c_number_characters * (
      3 + (select count(*)::int from public.tasks where master_task_id = p_task.master_task_id));
  end if;
  if length(p_cursor) <= v_max_characters and p_cursor ~ '^\.?\d{1,18}(\.\d{1,18})*$' then
    v_parts := string_to_array(ltrim(p_cursor, '.'), '.')::bigint[];
    if p_cursor not like '.%' then
      v_parts := array(
        -- No row has such a large id; more would not be a bigint.
        select case place when 3 then part else least(part, 10000000000000000) * 64 end
        from unnest(v_parts) with ordinality as written (part, place)
        order by place
      );
    end if;
  elsif coalesce(p_cursor, '') = '' then
    v_parts := array[0];
  end if;
  if v_parts is null or cardinality(v_parts) = 2 or cardinality(v_parts) = 3 then
    perform private.raise_query_invalid('read the events', 'p_cursor is not a cursor of an earlier page',
      'Send next_cursor of the last page unchanged, or null to read from the beginning.');
  end if;
  return row(
    v_parts[1], v_parts[1] + v_parts[2], v_parts[3]::text::xid8,
    array(
      select least(v_parts[1] + sum(gap) over (order by place), 9223372036854775807)::bigint
      from unnest(v_parts[4:]) with ordinality as last (gap, place)
    )
  );
end;
$$;
comment on function private.parse_event_cursor(text, public.tasks) is
  'Reads a cursor of read_events() for a job, or a task of it. Null and an empty string stand for the beginning. Raises QUERY_INVALID.';

create function private.print_event_cursor(p_cursor private.event_cursor)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  if cardinality(p_cursor.last_ids) = 0 then
    return '.' || p_cursor.base;
  end if;
  return format('.%s.%s.%s.', p_cursor.base, coalesce(p_cursor.settling - p_cursor.base, 0), coalesce(p_cursor.transaction, '0')) || (
    select string_agg((last.id - last.before)::text, '.' order by last.id)
    from (
      select id, lag(id, 1, p_cursor.base) over (order by id) as before from unnest(p_cursor.last_ids) as id
    ) as last
  );
end;
$$;
comment on function private.print_event_cursor(private.event_cursor) is 'The text that parse_event_cursor() reads.';

create function private.settle_event_cursor(p_cursor private.event_cursor, p_read_until bigint, p_snapshot pg_snapshot)
returns private.event_cursor
language plpgsql
set search_path = ''
as $$
declare
  v_cursor private.event_cursor := p_cursor;
begin
  if v_cursor.transaction < pg_snapshot_xmin(p_snapshot) then
    v_cursor.base := greatest(v_cursor.base, least(v_cursor.settling, p_read_until));
  end if;
  v_cursor.last_ids := array(select id from unnest(v_cursor.last_ids) as id where id > v_cursor.base);
  if v_cursor.settling <= v_cursor.base
    -- A transaction of another server, from which this database was restored.
    or v_cursor.transaction >= pg_snapshot_xmax(p_snapshot)
  then
    v_cursor.settling := null;
  end if;
  -- A transaction id that this transaction already had may be older than the page. A standby has none.
  if v_cursor.settling is null and cardinality(v_cursor.last_ids) > 0
    and pg_current_xact_id_if_assigned() is null and not pg_is_in_recovery()
  then
    v_cursor.settling := (select max(id) from unnest(v_cursor.last_ids) as id);
    v_cursor.transaction := pg_current_xact_id();
  end if;
  return v_cursor;
end;
$$;
comment on function private.settle_event_cursor(private.event_cursor, bigint, pg_snapshot) is
  'Shortens a cursor: moves its base to where no event can appear anymore, and begins to wait for the next such place. p_read_until: every event up to this id that is visible in the snapshot was returned.';

create function private.event_page(p_task public.tasks, p_cursor text, p_limit int, p_max_data_bytes int)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_max_page_bytes constant int := 1048576;
  v_cursor private.event_cursor := private.parse_event_cursor(p_cursor, p_task);
  -- The last returned id of each task. Looking it up for each event is faster than a join, which would sort.
  v_last constant jsonb := (
    select coalesce(jsonb_object_agg(stored.task_id, last.id order by last.id), '{}')
    from private.task_events as stored
    join unnest(v_cursor.last_ids) as last (id) on last.id / 64 = stored.id
    where (stored.task_id = p_task.id or stored.master_task_id = p_task.id and stored.task_id <> stored.master_task_id)
      and stored.id = any (array(select id / 64 from unnest(v_cursor.last_ids) as id))
  );
  v_events jsonb;
  v_has_more boolean;
  v_read_until bigint;
  v_snapshot pg_snapshot;
begin
  -- One statement, so that its snapshot is the one of the page.
  with following as materialized (
    select event.id, event.task_id, event.type, event.at, event.payload,
      sum(least(octet_length(event.payload::text), p_max_data_bytes)) over (order by event.id) as bytes,
      row_number() over (order by event.id) as place
    from (
      select candidate.id, stored.task_id, candidate.type, stored.at,
        private.event_data(stored.task_id, candidate.type, candidate.payload) as payload
      from (
        select part.*, read.until
        from (
          select own.* from private.task_events as own
          where own.task_id = p_task.id and own.id >= v_cursor.base / 64
          union all
          select subtask.* from private.task_events as subtask
          where subtask.master_task_id = p_task.id and subtask.task_id <> subtask.master_task_id
            and subtask.id >= v_cursor.base / 64
        ) as part
        cross join lateral (
          select greatest(v_cursor.base, (v_last ->> part.task_id::text)::bigint) as until
        ) as read
        -- Each of them has an event of the page, so that one more than the page has is enough.
        where part.id * 64 + private.event_count(part.type, part.payload) - 1 > read.until
        order by part.id
        limit p_limit + 1
      ) as stored
      cross join lateral private.events_of(stored.id, stored.type, stored.payload) as candidate
      where candidate.id > stored.until
      order by candidate.id
      limit p_limit + 1
    ) as event
  ),
  page as materialized (
    select * from following where place <= p_limit and (place = 1 or bytes <= v_max_page_bytes)
  )
  select
    coalesce(jsonb_agg(jsonb_build_object(
      'id', page.id, 'task_id', page.task_id, 'type', page.type, 'at', page.at,
      'data', case when octet_length(page.payload::text) <= p_max_data_bytes then page.payload
        else jsonb_build_object('cut', left(page.payload::text, p_max_data_bytes)) end
    ) order by page.id), '[]'),
    count(*) < (select count(*) from following),
    max(page.id),
    pg_current_snapshot(),
    array(
      select max(read.id)
      from (
        select key::uuid as task_id, value::bigint as id from jsonb_each_text(v_last)
        union all
        select task_id, id from page
      ) as read
      group by read.task_id
    )
  into v_events, v_has_more, v_read_until, v_snapshot, v_cursor.last_ids
  from page;

  v_cursor := private.settle_event_cursor(
    v_cursor, case when v_has_more then v_read_until else 9223372036854775807 end, v_snapshot);
  return jsonb_build_object(
    'events', v_events, 'next_cursor', private.print_event_cursor(v_cursor), 'has_more', v_has_more);
end;
$$;
comment on function private.event_page(public.tasks, text, int, int) is
  'A page of the events of a job or, for a subtask, of that task. See public.read_events(). The caller has checked the permissions and the limits.';

create function private.read_events(p_task_id uuid, p_cursor text, p_limit int, p_max_data_bytes int)
returns jsonb
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.readable_task(p_task_id);
begin
  perform private.assert_page_limit('read the events', p_limit);
  if p_max_data_bytes is null or p_max_data_bytes not between 0 and 1048576 then
    perform private.raise_query_invalid('read the events', 'p_max_data_bytes is not from 0 to 1048576',
      'Send how many bytes of the data of each event to return.');
  end if;
  return private.event_page(v_task, p_cursor, p_limit, p_max_data_bytes);
end;
$$;
comment on function private.read_events(uuid, text, int, int) is
  'See public.read_events(). Definer: it checks the caller once, while policies would check each event, and operators may not read the table.';

create function public.read_events(
  p_task_id uuid, p_cursor text default null, p_limit int default 200, p_max_data_bytes int default 32768
)
returns jsonb
language sql
set search_path = ''
as $$
  select private.read_events(p_task_id, p_cursor, p_limit, p_max_data_bytes);
$$;
comment on function public.read_events(uuid, text, int, int) is
  'The events {id, task_id, type, at, data} of a job, or of a subtask only, that follow the cursor: {events, next_cursor, has_more}. Pass next_cursor of one page to the next, for the same task; no event is lost or repeated, and those of one task are in order. A page has at most 1 MiB; longer data becomes {cut: its beginning}. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, QUERY_INVALID, INSUFFICIENT_SCOPE.';
revoke all on function public.read_events(uuid, text, int, int) from public, anon, authenticated, service_role;
grant execute on function private.read_events(uuid, text, int, int), public.read_events(uuid, text, int, int)
  to authenticated, service_role;
