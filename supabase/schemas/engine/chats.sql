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
revoke all on function private.job_of_chat(text) from public;

create function private.answer_in_transcript(p_task_id uuid, p_after_seq int, p_before_seq int)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  v_answer constant jsonb := (
    select coalesce(
      jsonb_path_query_first(step.output, '$.tool_calls[*] ? (@.name == "complete_task").arguments.output'),
      step.output -> 'text')
    from public.task_steps as step
    where step.task_id = p_task_id and step.seq > p_after_seq and step.seq < p_before_seq
      and step.kind = 'model' and step.state = 'done' and not coalesce(step.input ? 'summarizes_through', false)
    order by step.seq desc
    limit 1
  );
begin
  -- What a guardrail has refused or replaced was not the answer.
  if exists (
    select from public.task_steps as step
    where step.task_id = p_task_id and step.seq > p_after_seq and step.seq < p_before_seq
      and step.kind = 'guardrail' and step.input ->> 'stage' = 'output'
      and (step.state <> 'done' or step.output ? 'replacement')
  ) then
    return null;
  end if;
  return nullif(case jsonb_typeof(v_answer) when 'string' then v_answer #>> '{}' else jsonb_pretty(v_answer) end, '');
end;
$$;
comment on function private.answer_in_transcript(uuid, int, int) is
  'The text with which a task has answered between two steps, as its model wrote it; null if there is none.';
revoke all on function private.answer_in_transcript(uuid, int, int) from public;

create function private.chat_messages(p_job public.tasks)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    with message as (
      select 0 as seq, p_job.input as input
      union all
      select seq, input from public.task_steps where task_id = p_job.id and kind = 'user'
    ),
    turn as (
      select seq, input, lead(seq, 1, 2147483647) over (order by seq) as next_seq from message
    ),
    begun as (
      select case type
        when 'task.resumed' then (payload ->> 'step_seq')::int
        -- A fork goes on with the last message that it has taken over.
        else (select max(seq) from message where seq <= coalesce((payload #>> '{forked_from,step_seq}')::int, 0))
      end as seq
      from public.task_events
      where master_task_id = p_job.id and task_id = p_job.id
        and (type = 'task.created' or type = 'task.resumed' and payload ->> 'reason' = 'continued')
    )
    select jsonb_agg(
      jsonb_build_object('step', turn.seq, 'input', turn.input)
        || coalesce(old.answer, '{}')
      order by turn.seq)
    from turn
    left join lateral (
      -- The transcript is kept longer than the events, and a fork has the steps of its original but not the events.
      select jsonb_build_object('answer', private.answer_in_transcript(p_job.id, turn.seq, turn.next_seq)) as answer
      where turn.seq not in (select seq from begun)
    ) as old on true
  );
end;
$$;
comment on function private.chat_messages(public.tasks) is
  'The messages of the user of a job, its input and those that continued it, [{step, input, answer}]. answer, only of one whose events the job does not have, is its text, or null if it had none.';
revoke all on function private.chat_messages(public.tasks) from public;

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
begin
  perform private.assert_person_may('find the chat', 'swarm:run');
  v_job := private.job_of_chat(p_chat_id);
  if v_job.id is null then
    return null;
  end if;
  v_user_steps := array(select seq from public.task_steps where task_id = v_job.id and kind = 'user' order by seq);
  v_step := coalesce(v_user_steps[cardinality(v_user_steps)], 0);
  return case when p_with_messages then jsonb_build_object('messages', private.chat_messages(v_job)) else '{}' end
  || jsonb_build_object(
    'task_id', v_job.id,
    'agent', v_job.agent_slug,
    'status', v_job.status,
    'has_ended', v_job.finished_at is not null,
    'ended_seconds', floor(extract(epoch from clock_timestamp() - v_job.finished_at)),
    'is_ending', v_job.finished_at is null and v_job.cancel_requested_at is not null,
    'user_steps', to_jsonb(v_user_steps),
    'step', v_step,
    -- Every earlier event of the job is visible, because only an ended job takes a message.
    'cursor', (
      select id - 1
      from public.task_events
      where master_task_id = v_job.id and task_id = v_job.id and type = 'task.resumed'
        and payload ->> 'reason' = 'continued' and (payload ->> 'step_seq')::int = v_step
      order by id
      limit 1
    )::text,
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
revoke all on function private.find_chat(text, boolean) from public;

create function public.find_chat(p_chat_id text, p_with_messages boolean default false)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select private.find_chat(p_chat_id, p_with_messages);
$$;
comment on function public.find_chat(text, boolean) is
  'The caller''s job of a chat {task_id, agent, status, has_ended, ended_seconds, is_ending, user_steps, step, cursor, open_reviews}, or null. The job is the newest whose metadata has the id as chat_id, else the one with this id. user_steps are the steps of the messages after the first; with p_with_messages, messages [{step, input, answer}] has all of them, with the text (or null) of each answer whose events the job does not have; step is that of the newest, 0 for the first; cursor is for read_events(): what follows belongs to the answer to the newest message. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.find_chat(text, boolean) from public, anon, authenticated, service_role;
grant execute on function private.find_chat(text, boolean), public.find_chat(text, boolean)
  to authenticated, service_role;
