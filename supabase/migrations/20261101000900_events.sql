-- The trace: one row an event, broadcast in the same transaction.

create function private.without_nulls(p_payload jsonb)
returns jsonb
-- Not "language sql", which would be planned again at every call.
language plpgsql
immutable
set search_path = ''
as $$
begin
  -- Most events lack nothing.
  if not jsonb_path_exists(p_payload, '$.* ? (@ == null)') then
    return p_payload;
  end if;
  return (
    select coalesce(jsonb_object_agg(field.key, field.value), '{}')
    from jsonb_each(p_payload) as field
    where field.value <> 'null'
  );
end;
$$;
comment on function private.without_nulls(jsonb) is
  'An event''s payload without the particulars that are absent; nulls inside a value are the value''s own.';

create function private.emit_event(p_task_id uuid, p_master_task_id uuid, p_type text, p_payload jsonb default '{}')
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into public.task_events (task_id, master_task_id, type, payload)
  values (p_task_id, p_master_task_id, p_type, private.without_nulls(p_payload));
end;
$$;
comment on function private.emit_event(uuid, uuid, text, jsonb) is 'Appends an event to a task''s trace.';

create type private.task_event as (type text, payload jsonb);
comment on type private.task_event is
  'An event that is yet to be written: a transaction writes its events of one task all at once.';

create function private.emit_events(p_task_id uuid, p_master_task_id uuid, p_events private.task_event[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  if cardinality(p_events) = 0 then
    return;
  end if;
  insert into public.task_events (task_id, master_task_id, type, payload)
  select p_task_id, p_master_task_id, event.type, private.without_nulls(event.payload)
  from unnest(p_events) as event;
end;
$$;
comment on function private.emit_events(uuid, uuid, private.task_event[]) is
  'Appends events to a task''s trace, in the order of the array, in one statement, which is one broadcast.';

create function private.broadcast(p_task_ids uuid[], p_master_task_ids uuid[], p_events text[], p_payloads jsonb[])
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_has_task_channels constant boolean :=
    (select last_value from private.task_channels_until) > extract(epoch from clock_timestamp());
begin
  -- What realtime.send() writes for one message of one channel, each in a savepoint of its own.
  with message as materialized (
    select private.new_id() as id, channel.topic, sent.event, sent.payload,
      -- Charged to the budget, into debt if need be.
      nextval('private.realtime_messages') as place_in_budget
    from unnest(p_task_ids, p_master_task_ids, p_events, p_payloads)
      with ordinality as sent (task_id, master_task_id, event, payload, place)
    cross join lateral (
      values (1, 'supaswarm:task:' || sent.task_id), (2, 'supaswarm:master:' || sent.master_task_id)
    ) as channel (place, topic)
    where channel.place = 2 or (v_has_task_channels and sent.task_id is not null)
    order by sent.place, channel.place
  )
  insert into realtime.messages (id, topic, event, payload, private, extension)
  select message.id, message.topic, message.event,
    message.payload || jsonb_build_object('id', message.id), true, 'broadcast'
  from message;
exception when others then
  -- Realtime's table is the platform's to change. Its function knows how, and at worst warns.
  perform realtime.send(sent.payload, sent.event, channel.topic, true)
  from unnest(p_task_ids, p_master_task_ids, p_events, p_payloads)
    as sent (task_id, master_task_id, event, payload)
  cross join lateral (
    values (1, 'supaswarm:task:' || sent.task_id), (2, 'supaswarm:master:' || sent.master_task_id)
  ) as channel (place, topic)
  where channel.place = 2 or (v_has_task_channels and sent.task_id is not null);
end;
$$;
comment on function private.broadcast(uuid[], uuid[], text[], jsonb[]) is
  'Sends to the channels of jobs and, while some client may be on one, to those of tasks, in the order of the arrays; with null for its task, a message goes to its job alone. Never fails: a broadcast is no reason to lose a change. The caller has asked can_broadcast().';

create function private.broadcast_task_events()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  -- Realtime refuses large messages; a longer payload is named, not sent.
  v_max_payload_bytes constant int := 32768;
  v_task_ids uuid[];
  v_master_task_ids uuid[];
  v_types text[];
  v_payloads jsonb[];
begin
  if not private.can_broadcast() then
    return null;
  end if;
  select array_agg(event.task_id order by event.id),
    array_agg(event.master_task_id order by event.id),
    array_agg(event.type order by event.id),
    array_agg(jsonb_build_object(
      'task_id', event.task_id,
      'master_task_id', event.master_task_id,
      'seq', event.id,
      'at', event.at,
      'data', case
        when octet_length(event.payload::text) <= v_max_payload_bytes then event.payload
        else jsonb_build_object(
          'reference', jsonb_build_object('table', 'task_events', 'id', event.id),
          'bytes', octet_length(event.payload::text),
          'step_seq', event.payload -> 'step_seq'
        )
      end
    ) order by event.id)
  into v_task_ids, v_master_task_ids, v_types, v_payloads
  from written as event;
  perform private.broadcast(v_task_ids, v_master_task_ids, v_types, v_payloads);
  return null;
end;
$$;
comment on function private.broadcast_task_events() is
  'Statement trigger: broadcasts what was written. Definer, since clients may not write to realtime.messages.';

create trigger task_events_broadcast after insert on public.task_events
  referencing new table as written
  for each statement execute function private.broadcast_task_events();

create function private.is_own_channel(p_topic text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from public.tasks as task
    where task.id = substring(
        is_own_channel.p_topic
        from '^supaswarm:(?:task|master):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$'
      )::uuid
      and task.created_by = (select auth.uid())
      and (split_part(is_own_channel.p_topic, ':', 2) = 'task' or task.parent_id is null)
  )
  and private.has_scope('swarm:run');
$$;
comment on function private.is_own_channel(text) is
  'True when the topic is the channel of a task, or of a master task, that the caller owns; an OAuth client needs the scope swarm:run.';
grant execute on function private.is_own_channel(text) to authenticated;

create function private.join_channel(p_topic text)
returns boolean
language plpgsql
security definer
set search_path = ''
as $$
begin
  if not private.is_own_channel(p_topic) then
    return false;
  end if;
  if p_topic like 'supaswarm:task:%' then
    perform private.expect_task_channels();
  end if;
  return true;
end;
$$;
comment on function private.join_channel(text) is
  'True when the caller may join the channel. Of a task''s own channel it notes that somebody is on it, so that it is sent to. Realtime asks when a client joins, and again with each new token. Definer, since clients have no right to the note.';
grant execute on function private.join_channel(text) to authenticated;

create policy "owners receive the broadcasts of their tasks" on realtime.messages
  for select to authenticated
  using (extension = 'broadcast' and private.join_channel((select realtime.topic())));

-- For clients that prefer postgres_changes; RLS decides who receives a row.
alter publication supabase_realtime add table public.tasks, public.human_reviews;
