-- The trace of a job for display: its steps with the beginning of what they say, without their inputs and outputs.

create type public.trace_step as (
  task_id uuid,
  seq int,
  kind text,
  state text,
  name text,
  server text,
  call_id text,
  error_code text,
  usage jsonb,
  cost_micro_usd bigint,
  interruptions int,
  started_at timestamptz,
  ended_at timestamptz,
  summary text
);
comment on type public.trace_step is 'A row of read_trace().';

create function private.step_summary(p_step public.task_steps)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_most_characters constant int := 200;
  v_arguments constant jsonb := p_step.input -> 'arguments';
  v_text text;
begin
  if p_step.state = 'failed' or p_step.kind in ('model', 'guardrail') then
    v_text := coalesce(p_step.output ->> 'text', p_step.output #>> '{error,message}');
  elsif p_step.kind = 'user' then
    v_text := p_step.input #>> '{}';
  elsif jsonb_typeof(v_arguments) = 'object' then
    -- Texts first: they say more than the lists and objects with which they come.
    select string_agg(
      case when (select count(*) from jsonb_object_keys(v_arguments)) > 1 then argument.key || ': ' else '' end
        || left(argument.value #>> '{}', v_most_characters), ', '
      order by jsonb_typeof(argument.value) <> 'string', argument.place)
    into v_text
    from jsonb_each(v_arguments) with ordinality as argument (key, value, place);
  end if;
  -- Fences are for models. They may make most of a short text, so more than is returned is read.
  v_text := regexp_replace(left(v_text, 4 * v_most_characters), '</?untrusted_data\M[^>]*>', '', 'g');
  return nullif(btrim(left(regexp_replace(v_text, '\s+', ' ', 'g'), v_most_characters)), '');
end;
$$;
comment on function private.step_summary(public.task_steps) is
  'The first 200 characters of what a step says, in one line: the answer of a model, the arguments of a call, the text of an error or of a message. Null if there is nothing.';

create function private.trace_place(p_attempt text, p_after jsonb, out task_id uuid, out seq int)
language plpgsql
immutable
set search_path = ''
as $$
begin
  task_id := '00000000-0000-0000-0000-000000000000';
  seq := 0;
  if nullif(p_after, 'null') is null then
    return;
  end if;
  begin
    task_id := (p_after ->> 'task_id')::uuid;
    seq := (p_after ->> 'seq')::int;
  exception when data_exception then
    seq := null;
  end;
  if task_id is null or seq is null then
    perform private.raise_query_invalid(p_attempt, 'p_after is not a row of an earlier page',
      'Send the last row of the page before, or its task_id and seq.');
  end if;
end;
$$;
comment on function private.trace_place(text, jsonb) is
  'The row after which a page of a trace begins; null: before the first task. Raises QUERY_INVALID.';

create function private.trace_steps(p_master_task_id uuid, p_after jsonb, p_limit int)
returns setof public.trace_step
language plpgsql
stable
set search_path = ''
as $$
declare
  v_after record;
begin
  perform private.assert_page_limit('read the trace', p_limit);
  v_after := private.trace_place('read the trace', p_after);
  return query
    with page as materialized (
      select step.*
      from (
        select task.id
        from public.tasks as task
        where task.master_task_id = p_master_task_id and task.id >= v_after.task_id
        order by task.id
      ) as task
      cross join lateral (
        select *
        from public.task_steps as own
        where own.task_id = task.id
          and own.seq > case task.id when v_after.task_id then v_after.seq else 0 end
        order by own.seq
        limit p_limit
      ) as step
      -- In the order in which the tasks are read, so that reading stops at the end of the page.
      order by task.id, step.seq
      limit p_limit
    )
    select step.task_id, step.seq, step.kind, step.state, step.name, step.input ->> 'server', step.call_id,
      case
        when step.state = 'failed' then step.output ->> 'error_code'
        when step.kind = 'model' and step.output ->> 'finish_reason' = 'length' then 'MODEL_OUTPUT_CUT'
      end,
      step.usage, spent.cost_micro_usd, step.interruptions, step.started_at, step.ended_at,
      private.step_summary(row(step.*)::public.task_steps)
    from page as step
    left join lateral (
      select sum(usage.cost_micro_usd)::bigint as cost_micro_usd
      from public.usage_events as usage
      where usage.task_id = step.task_id and usage.step_seq = step.seq
    ) as spent on true
    order by step.task_id, step.seq;
end;
$$;
comment on function private.trace_steps(uuid, jsonb, int) is
  'A page of the steps of a job, by task and number, after the step p_after {task_id, seq}. The caller has checked the permissions. Raises QUERY_INVALID.';

create function private.read_trace(p_master_task_id uuid, p_after jsonb, p_limit int)
returns setof public.trace_step
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.readable_task(p_master_task_id);
begin
  return query select * from private.trace_steps(
    p_master_task_id => v_task.master_task_id, p_after => p_after, p_limit => p_limit);
end;
$$;
comment on function private.read_trace(uuid, jsonb, int) is
  'See public.read_trace(). Definer: readable_task() checks the caller once, while policies would check each step.';

create function public.read_trace(p_master_task_id uuid, p_after jsonb default null, p_limit int default 1000)
returns setof public.trace_step
language sql
stable
set search_path = ''
as $$
  select * from private.read_trace(p_master_task_id, p_after, p_limit);
$$;
comment on function public.read_trace(uuid, jsonb, int) is
  'The steps of a whole job by task and number, with times, tokens, cost and the beginning of what each says; the table task_steps has their inputs and outputs. p_after is the last row of the previous page. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, QUERY_INVALID, INSUFFICIENT_SCOPE.';
revoke all on function public.read_trace(uuid, jsonb, int) from public, anon, authenticated, service_role;
grant execute on function private.read_trace(uuid, jsonb, int), public.read_trace(uuid, jsonb, int)
  to authenticated, service_role;

create function private.said_in(p_part jsonb)
returns text
language sql
immutable
set search_path = ''
as $$
  select case
    when jsonb_typeof(p_part) = 'object' then (select string_agg(member.value::text, ' ') from jsonb_each(p_part) as member)
    else p_part::text
  end;
$$;
comment on function private.said_in(jsonb) is
  'The input or output of a step as text to search, without the names that every step has, such as arguments and error_code.';

create function private.search_trace(p_master_task_id uuid, p_text text, p_after jsonb, p_limit int)
returns table (task_id uuid, seq int)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  c_attempt constant text := 'search the trace';
  v_task constant public.tasks := private.readable_task(p_master_task_id);
  v_text constant text := lower(btrim(p_text));
  -- As it stands in a JSON text, which escapes quotes and line breaks.
  v_escaped constant text := btrim(to_json(v_text)::text, '"');
  v_after record;
begin
  if v_text is null or length(v_text) not between 1 and 200 then
    perform private.raise_query_invalid(c_attempt, 'p_text has not 1 to 200 characters', 'Send a shorter or longer text.');
  end if;
  perform private.assert_page_limit(c_attempt, p_limit);
  v_after := private.trace_place(c_attempt, p_after);
  return query
    select task.id, part.seq
    from (
      select known.*
      from public.tasks as known
      where known.master_task_id = v_task.master_task_id and known.id >= v_after.task_id
      order by known.id
    ) as task
    cross join lateral (
      select 0 as seq, concat_ws(' ', task.input, task.output, task.error) as said
      union all
      select step.seq, concat_ws(' ', private.said_in(step.input), private.said_in(step.output))
      from public.task_steps as step
      where step.task_id = task.id
    ) as part
    where part.seq > case task.id when v_after.task_id then v_after.seq else -1 end
      and (position(v_text in lower(part.said)) > 0 or position(v_escaped in lower(part.said)) > 0)
    order by task.id, part.seq
    limit p_limit;
end;
$$;
comment on function private.search_trace(uuid, text, jsonb, int) is
  'See public.search_trace(). Definer: readable_task() checks the caller once, while policies would check each step.';

create function public.search_trace(p_master_task_id uuid, p_text text, p_after jsonb default null, p_limit int default 1000)
returns table (task_id uuid, seq int)
language sql
stable
set search_path = ''
as $$
  select * from private.search_trace(p_master_task_id, p_text, p_after, p_limit);
$$;
comment on function public.search_trace(uuid, text, jsonb, int) is
  'The steps of a whole job whose arguments, answer, result or error contains a text, in any case, by task and number; number 0 is the task itself, for its input, output and error. p_after is the last row of the previous page. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, QUERY_INVALID, INSUFFICIENT_SCOPE.';
revoke all on function public.search_trace(uuid, text, jsonb, int) from public, anon, authenticated, service_role;
grant execute on function private.search_trace(uuid, text, jsonb, int), public.search_trace(uuid, text, jsonb, int)
  to authenticated, service_role;
