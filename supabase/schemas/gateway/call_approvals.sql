-- Approvals: rules about the tool calls before which a person is asked.

create function private.is_approval_condition(p_condition jsonb)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_operator constant text := p_condition ->> 'operator';
  v_value constant jsonb := p_condition -> 'value';
begin
  if jsonb_typeof(p_condition) is distinct from 'object' then
    return false;
  end if;
  if p_condition ? 'data_flow' then
    return p_condition - 'data_flow' = '{}'
      and coalesce(p_condition ->> 'data_flow' in ('reads_private', 'reads_outside', 'sends_outside'), false);
  end if;
  return p_condition ?& array['argument', 'operator', 'value']
    and p_condition - array['argument', 'operator', 'value'] = '{}'
    and jsonb_typeof(p_condition -> 'argument') = 'string'
    and p_condition ->> 'argument' ~ '^(/([^~/]|~[01])*)+$'
    and coalesce(case
      when v_operator in ('equals', 'not_equals') then true
      when v_operator in ('above', 'at_least', 'below', 'at_most') then jsonb_typeof(v_value) = 'number'
      when v_operator in ('one_of', 'none_of') then jsonb_typeof(v_value) = 'array'
      when v_operator = 'contains' then jsonb_typeof(v_value) in ('string', 'number', 'boolean')
    end, false);
end;
$$;
comment on function private.is_approval_condition(jsonb) is
  'True for a condition of a rule: {argument: JSON Pointer, operator, value} or {data_flow}.';

create function private.are_approval_conditions(p_conditions jsonb)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return jsonb_typeof(p_conditions) = 'array'
    and jsonb_array_length(p_conditions) between 1 and 20
    and not private.is_nested_too_deep(p_conditions)
    and length(p_conditions::text) <= 20000
    and not exists (
      select from jsonb_array_elements(p_conditions) as condition where not private.is_approval_condition(condition)
    );
end;
$$;
comment on function private.are_approval_conditions(jsonb) is
  'True for a list of 1 to 20 conditions, 20,000 characters at most. A check of agent_approvals.';

create table public.agent_approvals (
  id uuid primary key default private.new_id(),
  agent_id uuid not null references public.agents (id) on delete cascade,
  tool_id uuid references public.tools (id) on delete cascade,
  tool_name text not null default '*' check (length(tool_name) between 1 and 200),
  user_id uuid references auth.users (id) on delete cascade,
  ask text not null check (ask in ('never', 'always', 'when')),
  conditions jsonb,
  created_at timestamptz not null default now(),
  unique nulls not distinct (agent_id, tool_id, tool_name, user_id),
  constraint agent_approvals_when_has_conditions check ((ask = 'when') = (conditions is not null)),
  constraint agent_approvals_conditions_are_valid check (conditions is null or private.are_approval_conditions(conditions)),
  constraint agent_approvals_provider_tools
    check (tool_id is not null or (tool_name in ('*', 'web_search', 'code_execution') and ask <> 'when'))
);
revoke all on public.agent_approvals from anon, authenticated, service_role;
create index agent_approvals_tool_id_idx on public.agent_approvals (tool_id);
create index agent_approvals_user_id_idx on public.agent_approvals (user_id);
comment on table public.agent_approvals is
  'Before which calls of an agent a person is asked. Rules for everyone''s jobs are written by the service role, rules for a user''s own jobs by set_approval(). When both apply, the stricter one counts.';
comment on column public.agent_approvals.tool_id is 'The row of tools. Null: the tools that the model''s provider runs.';
comment on column public.agent_approvals.tool_name is 'The tool''s name at its server; *: every tool of the server without a rule of its own.';
comment on column public.agent_approvals.user_id is 'The owner of the jobs to which the rule applies; null: all jobs.';
comment on column public.agent_approvals.ask is
  'never: nobody is asked, also not before a write or before private data is sent outside. always: a person is asked before each call. when: a person is asked when one of the conditions holds.';
comment on column public.agent_approvals.conditions is
  'A list of {argument, operator, value} and {data_flow}. argument is a JSON Pointer into the arguments; * stands for every item of a list. operator: equals, not_equals, above, at_least, below, at_most, one_of, none_of, contains. A comparison with a missing argument or one of another type holds, except for equals, one_of and contains. data_flow: the job has called a tool with this data flow.';

alter table public.agent_approvals enable row level security;
create policy "users read the approvals of agents that they may use" on public.agent_approvals
  for select to authenticated using (
    (user_id is null or user_id = (select auth.uid()))
    and exists (select from public.agents as agent where agent.id = agent_id)
  );
comment on policy "users read the approvals of agents that they may use" on public.agent_approvals is
  'Users read the rules for everyone and their own, of the agents that they may use.';
grant select on public.agent_approvals to authenticated;
grant select, insert, update, delete on public.agent_approvals to service_role;

create function private.approval_rules(p_agent_id uuid, p_tool_id uuid, p_tool_name text, p_user_id uuid)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select coalesce(jsonb_agg(jsonb_build_object('ask', rule.ask, 'conditions', coalesce(rule.conditions, '[]'))), '[]')
    from (
      -- Of the rules for everyone, and of the owner's, the one that names the tool.
      select distinct on (user_id) ask, conditions
      from public.agent_approvals
      where agent_id = p_agent_id
        and tool_id is not distinct from p_tool_id
        and tool_name in (p_tool_name, '*')
        and (user_id is null or user_id = p_user_id)
      order by user_id, tool_name = '*'
    ) as rule
  );
end;
$$;
comment on function private.approval_rules(uuid, uuid, text, uuid) is
  'The rules [{ask, conditions}] for a tool of an agent (p_tool_id null: a tool of the model''s provider) in the jobs of a user: at most the one for everyone and the user''s own.';

create function private.approval_of_call(p_call jsonb, p_tool_id uuid, p_tool_name text, p_user_id uuid)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  v_task_id constant uuid := (p_call #>> '{caller,task_id}')::uuid;
  v_agent_id constant uuid := coalesce(
    (p_call #>> '{caller,agent_id}')::uuid,
    (select agent_id from public.tasks where id = v_task_id));
  v_arguments jsonb;
begin
  if v_agent_id is null then
    return null;
  end if;
  if v_task_id is not null and p_call ->> 'step_seq' is not null then
    select review.approved_arguments into v_arguments
    from public.human_reviews as review
    where review.task_id = v_task_id and review.seq = (p_call ->> 'step_seq')::int and review.approved;
    -- A statement of its own, because most calls have no review.
    if v_arguments is not null and not exists (
      select from public.task_steps as step
      where step.task_id = v_task_id
        and step.seq = (p_call ->> 'step_seq')::int
        and step.kind = 'tool'
        and step.state = 'started'
        and step.name = p_tool_name
        and step.input ->> 'server' = p_call ->> 'server'
    ) then
      v_arguments := null;
    end if;
  end if;
  return jsonb_build_object(
    'rules', private.approval_rules(v_agent_id, p_tool_id, p_tool_name, p_user_id),
    'approved_arguments', v_arguments
  );
end;
$$;
comment on function private.approval_of_call(jsonb, uuid, text, uuid) is
  'What is known about the approval of an agent''s call {server, caller, step_seq}: {rules: approval_rules(), approved_arguments: those that a person has approved for this step and tool, or null}. Null when no agent calls.';

create function private.set_approval(p_agent text, p_tool text, p_ask text, p_conditions jsonb, p_tool_name text)
returns void
language plpgsql
security definer
set search_path = ''
as $$
declare
  c_max_rules constant int := 1000;
  v_user_id constant uuid := auth.uid();
  v_agent_id uuid;
  v_tool_id uuid;
begin
  perform private.assert_person_may('change the approvals', 'swarm:run');
  if private.calling_actor() is distinct from 'user' then
    perform private.raise_error('FORBIDDEN', 'Cannot change the approvals: a user decides this in their own session',
      'Call as a signed-in user. Rules for everyone are rows of agent_approvals, which the service role writes.');
  end if;
  select id into v_agent_id from public.agents where slug = p_agent and private.may_use_agent(id, v_user_id);
  if not found then
    perform private.raise_error('AGENT_NOT_FOUND', format('Cannot change the approvals: no agent has the slug %L', p_agent),
      'Read the slugs from the table agents.');
  end if;
  if p_tool is not null then
    select id into v_tool_id from public.tools where slug = p_tool;
    if not found then
      perform private.raise_error('TOOL_NOT_FOUND', format('Cannot change the approvals: no tool has the slug %L', p_tool),
        'Read the slugs from the table tools.');
    end if;
  end if;
  if p_ask is null then
    delete from public.agent_approvals
    where agent_id = v_agent_id and tool_id is not distinct from v_tool_id and tool_name = p_tool_name and user_id = v_user_id;
    return;
  end if;
  -- Concurrent calls are counted one after the other.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:approvals:' || v_user_id, 0));
  insert into public.agent_approvals (agent_id, tool_id, tool_name, user_id, ask, conditions)
  values (v_agent_id, v_tool_id, p_tool_name, v_user_id, p_ask, p_conditions)
  on conflict (agent_id, tool_id, tool_name, user_id) do update
  set ask = excluded.ask, conditions = excluded.conditions;
  if (select count(*) from public.agent_approvals where user_id = v_user_id) > c_max_rules then
    perform private.raise_error('QUOTA_EXCEEDED',
      format('Cannot change the approvals: you have %s rules, and there may be no more', c_max_rules),
      'Delete rules that you no longer need, with p_ask null.');
  end if;
exception when check_violation or not_null_violation then
  perform private.raise_error('APPROVAL_RULE_INVALID',
    'Cannot change the approvals: the rule is not valid',
    'p_ask is never, always or when. when needs p_conditions: a list of {argument, operator, value} or {data_flow}. p_tool_name has at most 200 characters.');
end;
$$;
comment on function private.set_approval(text, text, text, jsonb, text) is
  'Writes a user''s own rule. Definer: users may not write agent_approvals; the function checks the caller and writes only the caller''s rules.';

create function public.set_approval(
  p_agent text, p_tool text, p_ask text, p_conditions jsonb default null, p_tool_name text default '*'
)
returns void
language sql
set search_path = ''
as $$
  select private.set_approval(p_agent, p_tool, p_ask, p_conditions, p_tool_name);
$$;
comment on function public.set_approval(text, text, text, jsonb, text) is
  'Sets before which calls an agent asks the caller in the caller''s own jobs. p_agent and p_tool are slugs (p_tool null: the tools of the model''s provider), p_ask is never, always, when (with p_conditions), or null to delete the rule. A rule for everyone''s jobs still applies: the stricter one counts. A user has at most 1,000 rules. For a user''s own session. Raises AGENT_NOT_FOUND, TOOL_NOT_FOUND, APPROVAL_RULE_INVALID, QUOTA_EXCEEDED, FORBIDDEN, AGENT_NOT_ALLOWED.';
revoke all on function public.set_approval(text, text, text, jsonb, text) from public, anon, authenticated, service_role;
grant execute on function
  private.set_approval(text, text, text, jsonb, text),
  public.set_approval(text, text, text, jsonb, text)
  to authenticated;
