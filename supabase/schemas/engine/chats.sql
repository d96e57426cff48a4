-- Chats: a page's chat is a job whose metadata has its id as chat_id. A regenerated answer is a fork, which keeps
-- the metadata, so a chat is the newest job with its id.

-- The columns of the query, so that an owner of many jobs finds a chat, or that there is none, with one lookup. The
-- hash, because an index takes no long value.
create index tasks_chat_idx on public.tasks (created_by, md5(metadata ->> 'chat_id'), created_at, id)
  where parent_id is null and metadata ? 'chat_id';

create function private.job_of_chat(p_chat_id text)
returns public.tasks
language plpgsql
stable
set search_path = ''
as $$
declare
  v_job public.tasks;
begin
  select * into v_job
  from public.tasks
  where parent_id is null and metadata ? 'chat_id' and md5(metadata ->> 'chat_id') = md5(p_chat_id)
    and created_by is not distinct from auth.uid()
  order by created_at desc, id desc
  limit 1;
  if not found and p_chat_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then
    select * into v_job
    from public.tasks
    where id = p_chat_id::uuid and parent_id is null and created_by is not distinct from auth.uid();
  end if;
  return v_job;
end;
$$;
comment on function private.job_of_chat(text) is
  'The caller''s newest job with this chat_id in its metadata, else the job with this id; null for none.';

create function private.answer_in_transcript(p_task_id uuid, p_after_seq int, p_before_seq int)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_answer jsonb;
  v_continues int;
begin
  select
    coalesce(
      jsonb_path_query_first(step.output, '$.tool_calls[*] ? (@.name == "complete_task").arguments.output'),
      step.output -> 'text'),
    case when step.output -> 'tool_calls' = '[]' then (step.input ->> 'continues')::int end
  into v_answer, v_continues
  from public.task_steps as step
  where step.task_id = p_task_id and step.seq > p_after_seq and step.seq < p_before_seq
    and step.kind = 'model' and step.state = 'done' and not coalesce(step.input ? 'summarizes_through', false)
  order by step.seq desc
  limit 1;
  -- The parts of an answer that was cut.
  while v_continues is not null and jsonb_typeof(v_answer) = 'string' loop
    select to_jsonb((step.output ->> 'text') || (v_answer #>> '{}')), (step.input ->> 'continues')::int
    into v_answer, v_continues
    from public.task_steps as step
    where step.task_id = p_task_id and step.seq = v_continues;
  end loop;
  -- What a guardrail has refused or replaced was not the answer.
  if exists (
    select from public.task_steps as step
    where step.task_id = p_task_id and step.seq > p_after_seq and step.seq < p_before_seq
      and step.kind = 'guardrail' and step.input ->> 'stage' = 'output'
      and (step.state <> 'done' or step.output ? 'replacement')
  ) then
    return null;
  end if;
  return nullif(
    case jsonb_typeof(v_answer) when 'string' then btrim(v_answer #>> '{}', E' \t\n\r') else v_answer::text end, '');
end;
$$;
comment on function private.answer_in_transcript(uuid, int, int) is
  'The text with which a task has answered between two steps, with all its parts and without white space around it; null if there is none.';

create function private.chat_messages(p_job public.tasks, p_user_steps int[])
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  c_max_messages constant int := 200;
  c_max_bytes constant int := 2097152;
  v_steps constant int[] := 0 || p_user_steps;
  v_with_events int[];
  v_step int;
  v_next_step int := 2147483647;
  v_message jsonb;
  v_messages jsonb[] := '{}'::jsonb[];
  v_bytes bigint := 0;
begin
  v_with_events := array(
    select case type
      when 'task.resumed' then (payload ->> 'step_seq')::int
      -- A fork goes on with the last message that it has taken over.
      else (select max(step) from unnest(v_steps) as step where step <= coalesce((payload #>> '{forked_from,step_seq}')::int, 0))
    end
    from private.task_events
    where master_task_id = p_job.id and task_id = p_job.id
      and (type = 'task.created' or type = 'task.resumed' and payload ->> 'reason' = 'continued')
  );
  -- One after the other, so that no more is read than is returned.
  for v_step in select step from unnest(v_steps) as step order by step desc limit c_max_messages loop
    v_message := jsonb_build_object('step', v_step, 'input', case
      when v_step = 0 then p_job.input
      else (select said.input from public.task_steps as said where said.task_id = p_job.id and said.seq = v_step)
    end);
    -- The transcript is kept longer than the events, and a fork has the steps of its original but not the events.
    if v_step <> all (v_with_events) then
      v_message := v_message || jsonb_build_object('answer', private.answer_in_transcript(p_job.id, v_step, v_next_step));
    end if;
    v_bytes := v_bytes + octet_length(v_message::text);
    exit when v_bytes > c_max_bytes and v_messages <> '{}';
    v_messages := v_messages || v_message;
    v_next_step := v_step;
  end loop;
  return jsonb_build_object(
    'messages', (select jsonb_agg(message order by place desc) from unnest(v_messages) with ordinality as listed (message, place)),
    'has_earlier', cardinality(v_messages) < cardinality(v_steps)
  );
end;
$$;
comment on function private.chat_messages(public.tasks, int[]) is
  'The newest messages of the user of a job, its input and those that continued it (p_user_steps), {messages: [{step, input, answer}], has_earlier}: 200 and 2 MiB at most with the answers, but at least one. answer, only of one whose events the job does not have, is its text, or null if it had none. has_earlier: there are others before.';

create function private.cursor_of_message(p_job_id uuid, p_step int)
returns text
language sql
stable
set search_path = ''
as $$
  -- Every earlier event of the job is visible, because only an ended job takes a message.
  select '.' || (id * 64 - 1)
  from private.task_events
  where master_task_id = p_job_id and task_id = p_job_id and type = 'task.resumed'
    and payload ->> 'reason' = 'continued' and (payload ->> 'step_seq')::int = p_step
  order by id
  limit 1;
$$;
comment on function private.cursor_of_message(uuid, int) is
  'The cursor of read_events() before the answer to a message that continued a job; null for its first message, or without the event.';

create function private.find_chat(p_chat_id text, p_with_messages boolean)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_job public.tasks;
  v_user_steps int[];
  v_step int;
  v_newest jsonb := '{}'::jsonb;
begin
  perform private.assert_person_may('find the chat', 'swarm:run');
  v_job := private.job_of_chat(p_chat_id);
  if v_job.id is null then
    return null;
  end if;
  v_user_steps := array(select seq from public.task_steps where task_id = v_job.id and kind = 'user' order by seq);
  v_step := coalesce(v_user_steps[cardinality(v_user_steps)], 0);
  if p_with_messages then
    v_newest := private.chat_messages(v_job, v_user_steps);
    v_newest := v_newest || jsonb_build_object(
      'messages_cursor', private.cursor_of_message(v_job.id, (v_newest #>> '{messages,0,step}')::int));
  end if;
  return v_newest || jsonb_build_object(
    'task_id', v_job.id,
    'agent', v_job.agent_slug,
    'status', v_job.status,
    'has_ended', v_job.finished_at is not null,
    'ended_seconds', floor(extract(epoch from clock_timestamp() - v_job.finished_at)),
    'is_ending', v_job.finished_at is null and v_job.cancel_requested_at is not null,
    'user_steps', to_jsonb(v_user_steps),
    'step', v_step,
    'cursor', private.cursor_of_message(v_job.id, v_step),
    'open_reviews', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'task_id', review.task_id, 'seq', review.seq, 'options', review.options
      ) order by review.created_at), '[]')
      from public.tasks as asking
      join public.human_reviews as review on review.task_id = asking.id and review.answered_at is null
      where asking.master_task_id = v_job.id
    )
  );
end;
$$;
comment on function private.find_chat(text, boolean) is
  'See public.find_chat(). Definer: it checks the caller once, while policies would check each row.';

create function public.find_chat(p_chat_id text, p_with_messages boolean default false)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select private.find_chat(p_chat_id, p_with_messages);
$$;
comment on function public.find_chat(text, boolean) is
  'The caller''s job of a chat {task_id, agent, status, has_ended, ended_seconds, is_ending, user_steps, step, cursor, open_reviews}, or null. The job is the newest whose metadata has the id as chat_id, else the one with this id. user_steps are the steps of the messages after the first; with p_with_messages, messages [{step, input, answer}] has the newest of all messages, 200 and 2 MiB at most, with the text (or null) of each answer whose events the job does not have, has_earlier says whether there are others before, and messages_cursor is for read_events(): what follows belongs to their answers (null: every event); step is that of the newest, 0 for the first; cursor is for read_events(): what follows belongs to the answer to the newest message. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.find_chat(text, boolean) from public, anon, authenticated, service_role;
grant execute on function private.find_chat(text, boolean), public.find_chat(text, boolean)
  to authenticated, service_role;
