-- The trace: what a task does, broadcast in the same transaction. A row is an event, or all that a checkpoint does
-- with model calls and tool calls. The ids of its events are 64 times its id and their places in the row.

create type private.task_event as (task_id uuid, master_task_id uuid, type text, payload jsonb);
comment on type private.task_event is
  'A row of task_events that is not written yet. A transaction collects its rows and writes them together.';

create function private.event_count(p_type text, p_payload jsonb)
returns int
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when p_type is null then jsonb_array_length(jsonb_path_query_array(p_payload, '$.*[*]')) else 1 end;
end;
$$;
comment on function private.event_count(text, jsonb) is 'How many events a row of task_events has: one to 64.';

create function private.add_step_event(
  p_events private.task_event[], p_task_id uuid, p_master_task_id uuid, p_type text, p_seq int
)
returns private.task_event[]
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_last constant int := cardinality(p_events);
  v_steps constant jsonb := p_events[v_last].payload;
begin
  if v_last = 0 or p_events[v_last].type is not null or private.event_count(null, v_steps) >= 64 then
    return array_append(p_events, row(
      p_task_id, p_master_task_id, null, jsonb_build_object(p_type, jsonb_build_array(p_seq)))::private.task_event);
  end if;
  p_events[v_last].payload := v_steps
    || jsonb_build_object(p_type, coalesce(v_steps -> p_type, '[]') || to_jsonb(p_seq));
  return p_events;
end;
$$;
comment on function private.add_step_event(private.task_event[], uuid, uuid, text, int) is
  'Adds the event of a model call or a tool call to the events of a task: to its last row, if that is of steps and has room. First what ended is added and then what begins, each in the order of the steps.';

create function private.events_of(p_id bigint, p_type text, p_payload jsonb)
returns table (id bigint, type text, payload jsonb)
language plpgsql
immutable
set search_path = ''
rows 2
as $$
begin
  if p_type is not null then
    return query select p_id * 64, p_type, p_payload;
    return;
  end if;
  return query
    select p_id * 64 + row_number() over (order by listed.type like '%.started', step.seq::int) - 1,
      listed.type, jsonb_build_object('step_seq', step.seq)
    from jsonb_each(p_payload) as listed (type, seqs)
    cross join lateral jsonb_array_elements(listed.seqs) as step (seq)
    order by 1;
end;
$$;
comment on function private.events_of(bigint, text, jsonb) is
  'The events of a row of task_events, in their order. event_data() adds what the steps have.';

create function private.emit_events(p_events private.task_event[])
returns void
language plpgsql
set search_path = ''
-- Postgres would plan the statement again for each array.
set plan_cache_mode = force_generic_plan
as $$
begin
  if cardinality(p_events) = 0 then
    return;
  end if;
  insert into private.task_events (task_id, master_task_id, type, payload)
  select event.task_id, event.master_task_id, event.type, case
    when event.payload @? '$.* ? (@ == null)' then (
      select coalesce(jsonb_object_agg(field.key, field.value), '{}')
      from jsonb_each(event.payload) as field
      -- Keep nulls inside a value.
      where field.value <> 'null'
    )
    else event.payload
  end
  from unnest(p_events) as event;
end;
$$;
comment on function private.emit_events(private.task_event[]) is
  'Appends rows to the traces of tasks in the order of the array, without the top-level fields that are null. One statement, so that one broadcast sends them all. The caller has locked the tasks.';

create function private.emit_event(p_task_id uuid, p_master_task_id uuid, p_type text, p_payload jsonb default '{}')
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform private.emit_events(array[row(p_task_id, p_master_task_id, p_type, p_payload)::private.task_event]);
end;
$$;
comment on function private.emit_event(uuid, uuid, text, jsonb) is 'Appends an event to a task''s trace.';

create function private.send_messages(p_topics text[], p_events text[], p_payloads jsonb[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Writes what realtime.send() writes, which handles one message at a time, each in its own savepoint.
  with message as materialized (
    select private.new_id() as id, sent.topic, sent.event, sent.payload,
      -- Events are charged to the budget even when it is used up.
      nextval('private.realtime_messages') as place_in_budget
    from unnest(p_topics, p_events, p_payloads) with ordinality as sent (topic, event, payload, place)
    order by sent.place
  )
  insert into realtime.messages (id, topic, event, payload, private, extension)
  select message.id, message.topic, message.event,
    message.payload || jsonb_build_object('id', message.id), true, 'broadcast'
  from message;
exception when others then
  -- The platform may change this table. realtime.send() follows such changes, and only warns on failure.
  perform realtime.send(sent.payload, sent.event, sent.topic, true)
  from unnest(p_topics, p_events, p_payloads) as sent (topic, event, payload);
end;
$$;
comment on function private.send_messages(text[], text[], jsonb[]) is
  'Sends messages to private channels, in the order of the arrays. Never raises: a failed broadcast must not roll back a change. The caller has checked can_broadcast().';

create function private.status_after(p_type text, p_data jsonb)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case p_type
    when 'task.created' then 'pending'
    when 'task.started' then 'running'
    -- A message from the user puts an ended task back in the queue; every other resume is a claim.
    when 'task.resumed' then case when p_data ->> 'reason' = 'continued' then 'pending' else 'running' end
    when 'task.parked' then p_data ->> 'status'
    when 'task.retried' then 'pending'
    when 'task.completed' then 'completed'
    when 'task.failed' then 'failed'
    when 'task.cancelled' then 'cancelled'
  end;
end;
$$;
comment on function private.status_after(text, jsonb) is
  'The status of a task after an event of its trace, or null when the event does not change the status.';

create function private.broadcast_to_owners(
  p_task_ids uuid[], p_master_task_ids uuid[], p_events text[], p_payloads jsonb[]
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_topics text[];
  v_events text[];
  v_payloads jsonb[];
begin
  with sent as (
    select event.*, private.status_after(event.type, event.payload -> 'data') as status,
      -- When a job changes more than once, only its last state is sent.
      lead(event.place) over (
        partition by event.master_task_id, event.type like 'task.%' and event.task_id = event.master_task_id
        order by event.place
      ) is null as is_last
    from unnest(p_task_ids, p_master_task_ids, p_events, p_payloads)
      with ordinality as event (task_id, master_task_id, type, payload, place)
  )
  select
    array_agg('supaswarm:user:' || job.created_by order by sent.place),
    array_agg(case when sent.status is null then sent.type else 'job.changed' end order by sent.place),
    array_agg(
      case when sent.status is null then sent.payload
        else jsonb_set(sent.payload, '{data}', jsonb_build_object('status', sent.status, 'agent', job.agent_slug))
      end order by sent.place
    )
  into v_topics, v_events, v_payloads
  from sent
  join public.tasks as job on job.id = sent.master_task_id
  where job.created_by is not null and (sent.status is null or sent.is_last)
    and private.is_joined('supaswarm:user:' || job.created_by);
  if v_topics is not null then
    perform private.send_messages(v_topics, v_events, v_payloads);
  end if;
end;
$$;
comment on function private.broadcast_to_owners(uuid[], uuid[], text[], jsonb[]) is
  'Sends to the owners'' own channels that are joined what a job list and an inbox need: job.changed when the status of a job changes, once per statement, and the reviews of all its tasks. The arrays hold events of master tasks with a type task.*, and events of reviews. The caller has checked can_broadcast().';

create function private.event_data(p_task_id uuid, p_type text, p_payload jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  -- An event of a row of steps.
  v_has_step_only constant boolean := p_type <> 'task.completed' and p_payload - 'step_seq' = '{}';
begin
  if p_payload -> 'step_seq' is null
    or p_type <> all ('{model.started,model.completed,tool.started,tool.completed,tool.failed,data.saved,task.completed}')
  then
    return p_payload;
  end if;
  return coalesce((
    select jsonb_object_agg(field.key, field.value) || case p_type
      when 'task.completed' then p_payload - 'step_seq' else p_payload end
    from public.task_steps as step
    cross join lateral (
      values
        ('name', case when v_has_step_only then to_jsonb(step.name) end),
        ('call_id', case when v_has_step_only then to_jsonb(step.call_id) end),
        ('server', case when v_has_step_only and p_type = 'tool.started' then step.input -> 'server' end),
        ('left_out', case when v_has_step_only then step.input -> 'left_out' end),
        ('summarizes_through', case when v_has_step_only then step.input -> 'summarizes_through' end),
        ('continues', case when v_has_step_only then step.input -> 'continues' end),
        ('error_code', case when v_has_step_only and p_type not like '%.started' then step.output -> 'error_code' end),
        ('files', case when v_has_step_only and p_type not like '%.started' then step.output -> 'files' end),
        ('storage_path', case when v_has_step_only and p_type not like '%.started' then step.output -> 'storage_path' end),
        ('arguments', case when p_type = 'tool.started' then step.input -> 'arguments' end),
        (case p_type when 'task.completed' then 'output' else 'text' end,
          case when p_type not like '%.started' then step.output -> 'text' end),
        ('reasoning', case when p_type = 'model.completed' then step.output -> 'reasoning' end),
        ('tool_calls', case when p_type = 'model.completed' then step.output -> 'tool_calls' end),
        ('finish_reason', case when p_type = 'model.completed' and step.output ->> 'finish_reason' = any ('{length,refused}')
          then step.output -> 'finish_reason' end),
        ('cut_at_tokens', case when p_type = 'model.completed' then step.output -> 'cut_at_tokens' end),
        ('provider_tool_calls', case when p_type = 'model.completed' then step.output -> 'provider_tool_calls' end),
        ('usage', case when p_type = 'model.completed' then step.usage end)
    ) as field (key, value)
    where step.task_id = p_task_id and step.seq = (p_payload ->> 'step_seq')::int
      -- A message may have taken the place of a call that never ended.
      and (not v_has_step_only or step.kind = split_part(p_type, '.', 1))
      and field.value <> 'null'
  ), p_payload);
end;
$$;
comment on function private.event_data(uuid, text, jsonb) is
  'The data of an event: its payload, and what only the step has, such as the name of a call, its arguments, the text of an answer or the output of a task that is its last answer.';

create view public.task_events with (security_invoker = true) as
  select event.id, stored.task_id, stored.master_task_id, event.type,
    private.event_data(stored.task_id, event.type, event.payload) as payload, stored.at
  from (
    -- For a job, the first part is read by the primary key and the second by task_events_subtasks_idx.
    select * from private.task_events where task_id = master_task_id
    union all
    select * from private.task_events where task_id <> master_task_id
  ) as stored
  cross join lateral private.events_of(stored.id, stored.type, stored.payload) as event;
revoke all on public.task_events from anon, authenticated, service_role;
comment on view public.task_events is
  'The events of tasks. Filter by task_id or master_task_id. Each is broadcast to the channel of its task and the channel of its job. Users see those of their own tasks, the service all.';
grant select on public.task_events to authenticated, service_role;
grant execute on function private.events_of(bigint, text, jsonb), private.event_data(uuid, text, jsonb)
  to authenticated, service_role;

create function private.output_of_event(p_task_id uuid, p_output jsonb)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_answer record;
begin
  select step.seq, step.output -> 'text' as text into v_answer
  from public.task_steps as step
  where step.task_id = p_task_id and step.kind = 'model'
  order by step.seq desc
  limit 1;
  return case
    when v_answer.text = p_output then jsonb_build_object('step_seq', v_answer.seq)
    else jsonb_build_object('output', p_output)
  end;
end;
$$;
comment on function private.output_of_event(uuid, jsonb) is
  'What the event task.completed stores of the output of a task: the step whose text it is, for event_data(), or the output.';

create function private.event_message(
  p_id bigint, p_task_id uuid, p_master_task_id uuid, p_at timestamptz, p_payload jsonb
)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
declare
  -- Realtime refuses large messages: instead of a longer payload, a reference to its row is sent.
  c_max_payload_bytes constant int := 32768;
begin
  return jsonb_build_object(
    'task_id', p_task_id,
    'master_task_id', p_master_task_id,
    'seq', p_id,
    'at', p_at,
    'data', case
      when octet_length(p_payload::text) <= c_max_payload_bytes then p_payload
      else jsonb_build_object(
        'reference', jsonb_build_object('table', 'task_events', 'id', p_id),
        'bytes', octet_length(p_payload::text),
        'step_seq', p_payload -> 'step_seq'
      )
    end
  );
end;
$$;
comment on function private.event_message(bigint, uuid, uuid, timestamptz, jsonb) is
  'The broadcast message for an event of a task''s trace. p_payload is the event''s data.';

create function private.broadcast_task_events()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_joined text[];
  v_task_ids uuid[];
  v_master_task_ids uuid[];
  v_types text[];
  v_topics text[];
  v_payloads jsonb[];
begin
  if not private.is_any_joined() then
    return null;
  end if;
  v_joined := array(
    select channel.topic
    from (
      select 'supaswarm:master:' || event.master_task_id as topic from written as event
      union
      select 'supaswarm:task:' || event.task_id from written as event
      -- Once for each channel, not for each event.
      offset 0
    ) as channel
    where private.is_joined(channel.topic)
  );
  if cardinality(v_joined) > 0 and private.can_broadcast() then
    select array_agg(channel.topic order by event.id, channel.place),
      array_agg(event.type order by event.id, channel.place),
      array_agg(event.message order by event.id, channel.place)
    into v_topics, v_types, v_payloads
    from (
      select candidate.id, stored.task_id, stored.master_task_id, candidate.type, private.event_message(
        candidate.id, stored.task_id, stored.master_task_id, stored.at,
        private.event_data(stored.task_id, candidate.type, candidate.payload)
      ) as message
      from written as stored
      cross join lateral private.events_of(stored.id, stored.type, stored.payload) as candidate
      offset 0
    ) as event
    cross join lateral (
      values (1, 'supaswarm:task:' || event.task_id), (2, 'supaswarm:master:' || event.master_task_id)
    ) as channel (place, topic)
    where channel.topic = any (v_joined);
    perform private.send_messages(v_topics, v_types, v_payloads);
  end if;

  select array_agg(event.task_id order by event.id),
    array_agg(event.master_task_id order by event.id),
    array_agg(event.type order by event.id),
    array_agg(
      private.event_message(event.id * 64, event.task_id, event.master_task_id, event.at, event.payload) order by event.id
    )
  into v_task_ids, v_master_task_ids, v_types, v_payloads
  from written as event
  where event.type in ('review.requested', 'review.answered', 'review.reopened')
    or (event.task_id = event.master_task_id and event.type like 'task.%');
  if v_types is not null and private.can_broadcast() then
    perform private.broadcast_to_owners(v_task_ids, v_master_task_ids, v_types, v_payloads);
  end if;
  return null;
end;
$$;
comment on function private.broadcast_task_events() is
  'Statement trigger: broadcasts the new events to the channels of their tasks, their jobs and the jobs'' owners that are joined. Definer, because clients may not write to realtime.messages.';

create trigger task_events_broadcast after insert on private.task_events
  referencing new table as written
  for each statement execute function private.broadcast_task_events();

create function private.task_id_of_channel(p_topic text)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return substring(
    p_topic from '^supaswarm:(?:task|master):([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$'
  )::uuid;
end;
$$;
comment on function private.task_id_of_channel(text) is
  'The task whose channel, or whose job''s channel, has this topic; null for any other topic.';
grant execute on function private.task_id_of_channel(text) to authenticated;

create function private.is_own_channel(p_topic text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select (is_own_channel.p_topic in ('supaswarm:user:' || (select auth.uid()), 'supaswarm:project') or exists (
    select from public.tasks as task
    where task.id = private.task_id_of_channel(is_own_channel.p_topic)
      and task.created_by = (select auth.uid())
      and (split_part(is_own_channel.p_topic, ':', 2) = 'task' or task.parent_id is null)
  ))
  and private.has_scope('swarm:run');
$$;
comment on function private.is_own_channel(text) is
  'True when the topic is the project''s channel, the caller''s own, or that of a task or master task that the caller owns. An OAuth client needs the scope swarm:run.';
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
  perform private.expect_receiver(p_topic);
  return true;
end;
$$;
comment on function private.join_channel(text) is
  'True when the caller may join the channel. Records that a client has joined, so that messages are sent to it. Realtime calls it when a client joins and again with each new token. Definer, because clients may not write this record.';
grant execute on function private.join_channel(text) to authenticated;

create policy "owners receive the broadcasts of their tasks" on realtime.messages
  for select to authenticated
  using (extension = 'broadcast' and private.join_channel((select realtime.topic())));

-- For clients that prefer postgres_changes; RLS decides who receives a row.
alter publication supabase_realtime add table public.tasks, public.human_reviews;
