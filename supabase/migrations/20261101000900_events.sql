-- The trace: one row an event, broadcast in the same transaction.

create function private.emit_event(p_task_id uuid, p_master_task_id uuid, p_type text, p_payload jsonb default '{}')
returns void
-- Not "language sql", which would be planned again at every call.
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  -- Absent particulars are left out; nulls inside a value are the value's own. Most events lack none.
  if jsonb_path_exists(p_payload, '$.* ? (@ == null)') then
    p_payload := (
      select coalesce(jsonb_object_agg(field.key, field.value), '{}')
      from jsonb_each(p_payload) as field
      where field.value <> 'null'
    );
  end if;
  insert into public.task_events (task_id, master_task_id, type, payload)
  values (p_task_id, p_master_task_id, p_type, p_payload);
end;
$$;
comment on function private.emit_event(uuid, uuid, text, jsonb) is 'Appends an event to a task''s trace.';
revoke all on function private.emit_event(uuid, uuid, text, jsonb) from public;

create function private.broadcast(p_task_id uuid, p_master_task_id uuid, p_event text, p_payload jsonb)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  perform realtime.send(p_payload, p_event, 'supaswarm:task:' || p_task_id, true);
  perform realtime.send(p_payload, p_event, 'supaswarm:master:' || p_master_task_id, true);
end;
$$;
comment on function private.broadcast(uuid, uuid, text, jsonb) is
  'Sends to the private channels of a task and of its master.';
revoke all on function private.broadcast(uuid, uuid, text, jsonb) from public;

create function private.broadcast_task_event()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  -- Realtime refuses large messages; a longer payload is named, not sent.
  v_max_payload_bytes constant int := 32768;
  v_data jsonb := new.payload;
begin
  if octet_length(v_data::text) > v_max_payload_bytes then
    v_data := jsonb_build_object(
      'reference', jsonb_build_object('table', 'task_events', 'id', new.id),
      'bytes', octet_length(new.payload::text),
      'step_seq', new.payload -> 'step_seq'
    );
  end if;
  perform private.broadcast(new.task_id, new.master_task_id, new.type, jsonb_build_object(
    'task_id', new.task_id,
    'master_task_id', new.master_task_id,
    'seq', new.id,
    'at', new.at,
    'data', v_data
  ));
  return null;
end;
$$;
comment on function private.broadcast_task_event() is
  'Row trigger: broadcasts the event. Definer, since realtime.send() obeys the policies of realtime.messages and clients may not write there.';
revoke all on function private.broadcast_task_event() from public;

create trigger task_events_broadcast after insert on public.task_events
  for each row execute function private.broadcast_task_event();

create function private.is_own_channel(p_topic text)
returns boolean
language sql
stable
security invoker
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
  );
$$;
comment on function private.is_own_channel(text) is
  'True when the topic is the channel of a task, or of a master task, that the caller owns. Called by policies on realtime.messages.';
revoke all on function private.is_own_channel(text) from public;
grant execute on function private.is_own_channel(text) to authenticated;

create policy "owners receive the broadcasts of their tasks" on realtime.messages
  for select to authenticated
  using (extension = 'broadcast' and private.is_own_channel((select realtime.topic())));

-- For clients that prefer postgres_changes; RLS decides who receives a row.
alter publication supabase_realtime add table public.tasks, public.human_reviews;
