-- The data that a worker gets about a claimed task.

create function private.handoff_targets(p_agent_id uuid, p_user_id uuid)
returns table (id uuid, slug text, description text)
language plpgsql
stable
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_is_restricted constant boolean := exists (select from public.agent_handoffs where agent_id = p_agent_id);
begin
  return query
    select target.id, target.slug, target.description
    from public.agents as target
    where target.is_active
      and exists (select from public.agents as giving where giving.id = p_agent_id and giving.may_hand_off)
      and (
        not v_is_restricted
        or exists (
          select from public.agent_handoffs as handoff
          where handoff.agent_id = p_agent_id and handoff.target_agent_id = target.id
        )
      )
      -- A call for each agent would take longer than the rest.
      and (p_user_id is null or target.audience = 'everyone' or private.may_use_agent(target.id, p_user_id));
end;
$$;
comment on function private.handoff_targets(uuid, uuid) is
  'The agents that an agent may hand off to: they are active, their audience includes the job''s owner (null: the service), they are in the agent''s rows of agent_handoffs if it has any, and the agent may hand off at all.';

create function private.can_hand_off(p_agent_id uuid, p_target_agent_id uuid, p_user_id uuid)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select from private.handoff_targets(p_agent_id, p_user_id) as target where target.id = p_target_agent_id
  );
end;
$$;
comment on function private.can_hand_off(uuid, uuid, uuid) is
  'True when an agent may hand off to the target in a job of this owner.';

create function private.checked_input(p_master public.tasks)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce((
    select step.output -> 'replacement'
    from public.task_steps as step
    where step.task_id = p_master.id
      and step.kind = 'guardrail'
      and step.input ->> 'stage' = 'input'
      and step.input ->> 'message_seq' = '0'
      and step.output ? 'replacement'
      -- The guardrails check the input right after the first model call.
      and step.seq <= 50
    order by step.seq desc
    limit 1
  ), p_master.input);
end;
$$;
comment on function private.checked_input(public.tasks) is
  'The input of a master task after its guardrails changed it. Its subtasks see only this version.';

create function private.agent_facts(p_agent_id uuid, p_user_id uuid, p_revision int, p_changes jsonb)
returns table (
  agent json, provider json, provider_rules json, stored_bytes_left bigint, window_tokens int, model_max_tokens int,
  fallbacks json, guardrails json, skills json, handoffs json
)
language plpgsql
stable
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_agent public.agents;
  v_provider public.llm_providers;
begin
  -- Small statements, and no joins for lists that most agents lack: to start a statement takes longer than to
  -- run it.
  select * into v_agent from public.agents as used where used.id = p_agent_id;
  if not found then
    return;
  end if;
  if p_revision <> v_agent.revision or p_changes is not null then
    return query select * from private.agent_facts_of_revision(v_agent, p_user_id, p_revision, p_changes);
    return;
  end if;
  select * into v_provider
  from public.llm_providers as used
  where used.id = v_agent.provider_id and used.is_active;

  -- All columns: to select some of them as jsonb takes longer than the worker needs to ignore the others.
  agent := row_to_json(v_agent);
  if v_provider.id is not null then
    provider := row_to_json(v_provider);
  end if;
  if v_agent.provider_tools <> '{}' then
    provider_rules := (
      select json_object_agg(tool, jsonb_path_query_array(private.approval_rules(p_agent_id, null, tool, p_user_id), '$[*].ask'))
      from unnest(v_agent.provider_tools) as tool
    );
  end if;
  if p_user_id is not null then
    stored_bytes_left := private.stored_bytes_left(p_user_id);
  end if;
  window_tokens := private.model_window(v_provider.id, coalesce(v_agent.model, v_provider.default_model));
  model_max_tokens := private.model_max_tokens(v_provider.id, coalesce(v_agent.model, v_provider.default_model));
  if exists (select from public.agent_fallbacks where agent_id = p_agent_id) then
    fallbacks := (
      select json_agg(
        json_build_object(
          'provider', to_jsonb(other) - '{display_name,is_active}'::text[],
          'model', fallback.model,
          'is_priced', private.is_priced(p_agent_id, other.id, coalesce(fallback.model, other.default_model))
        )
        order by fallback.priority
      )
      from public.agent_fallbacks as fallback
      join public.llm_providers as other on other.id = fallback.provider_id
      where fallback.agent_id = p_agent_id and other.is_active
    );
  end if;
  if exists (select from public.agent_guardrails where agent_id = p_agent_id) then
    guardrails := (
      select json_agg(
        json_build_object('stage', guardrail.stage, 'server', tool.slug, 'tool_name', guardrail.tool_name)
        order by guardrail.priority
      )
      from public.agent_guardrails as guardrail
      join public.tools as tool on tool.id = guardrail.tool_id
      where guardrail.agent_id = p_agent_id
    );
  end if;
  if exists (select from public.agent_skills where agent_id = p_agent_id) then
    skills := (
      select json_agg(
        json_build_object('skill_id', skill.skill_id, 'name', skill.name, 'description', skill.description)
        order by agent_skill.priority, skill.skill_id
      )
      from public.agent_skills as agent_skill
      join public.skills as skill on skill.id = agent_skill.skill_id
      where agent_skill.agent_id = p_agent_id and skill.is_active
    );
  end if;
  handoffs := (
    select json_agg(
      json_build_object('slug', target.slug, 'description', target.description) order by target.slug
    )
    from private.handoff_targets(p_agent_id, p_user_id) as target
  );
  return next;
end;
$$;
comment on function private.agent_facts(uuid, uuid, int, jsonb) is
  'The parts of a context that depend only on the agent, its revision (null: the agent as it is), the task''s changes of it (null: none) and the job''s owner (null: the service); empty lists are null. No row when there is no such agent.';

create function private.task_facts(p_task public.tasks, p_master public.tasks, p_stored_bytes_left bigint)
returns json
language plpgsql
stable
set search_path = ''
as $$
begin
  return json_build_object(
    'id', p_task.id,
    'master_task_id', p_task.master_task_id,
    'parent_id', p_task.parent_id,
    'created_by', p_task.created_by,
    'agent_slug', p_task.agent_slug,
    'input', p_task.input,
    'depth', p_task.depth,
    'attempts', p_task.attempts,
    'deliveries', p_task.deliveries,
    'runs_exclusively', p_task.runs_exclusively,
    'intermediate_data', p_task.intermediate_data,
    'storage_paths', to_jsonb(p_task.storage_paths),
    'metadata', p_task.metadata,
    'traceparent', p_task.traceparent,
    'tracestate', p_task.tracestate,
    'budget', case when p_task.parent_id is null then p_task.budget else p_master.budget end,
    'stored_bytes_left', p_stored_bytes_left,
    'has_cost_cap',
      p_task.parent_id is not null and private.cap(p_master.budget, 'max_cost_micro_usd', null) is not null,
    'has_changed_model', coalesce(p_task.agent_changes ? 'model', false),
    'output_schema', p_task.output_schema,
    'master_input', case when p_task.parent_id is null then p_task.input else private.checked_input(p_master) end
  );
end;
$$;
comment on function private.task_facts(public.tasks, public.tasks, bigint) is
  'The part of a context that describes the task. p_master is used only for a subtask.';

create function private.covered_steps(p_task_id uuid, p_through int)
returns table (seq int, step json, unsent_turns bigint)
language plpgsql
stable
set search_path = ''
as $$
begin
  return query
    with
    -- The current run begins with the last message, or after the answer after which the task was last retried.
    run as (
      select coalesce(max(step.seq), 0) as begun_after
      from public.task_steps as step
      where step.task_id = p_task_id and (step.kind = 'user' or step.kind = 'model' and step.input ? 'retried')
    ),
    covered as materialized (
      select step.seq, step.kind, step.state, step.name, step.call_id, step.input,
        step.kind = 'model' and step.state = 'done' and not coalesce(step.input ? 'summarizes_through', false) as is_turn,
        -- Large, and of a success nothing is read but what a search found.
        case
          when step.kind = any ('{model,guardrail}') or step.state = 'failed' or step.name = 'search_tools' then step.output
        end as output
      from public.task_steps as step
      where step.task_id = p_task_id and step.seq <= p_through
    ),
    recent as (
      select min(last.seq) as begun_at
      from (select covered.seq from covered where covered.is_turn order by covered.seq desc limit 5) as last
    ),
    sent (seq) as (
      select covered.seq from covered
      where covered.kind = any ('{user,guardrail}') or covered.state <> 'done' or covered.name = 'search_tools'
      union
      -- When a tool was called first and succeeded last: for the tools that are offered, what the job has read,
      -- and how often a tool has failed since.
      select unnest(array[min(covered.seq), max(covered.seq)]) from covered
      where covered.kind = 'tool' and covered.state = 'done'
      group by covered.name, covered.input ->> 'server', covered.input ->> 'model_name', covered.input -> 'data_flows'
      union
      -- The last five turns with their calls: the task fails after three of them in a row without a valid call, or
      -- five with the same error. The last one also records what its prompt left out, which stays left out.
      select covered.seq from covered, recent where covered.seq >= recent.begun_at
      union
      select covered.seq from covered where covered.kind = 'model' and covered.input ? 'retried'
      union
      -- The results that the model has returned in this run, of which it may correct a few.
      select covered.seq from covered
      where covered.is_turn and covered.seq > (select run.begun_after from run)
        and (
          covered.output -> 'tool_calls' = '[]' or covered.output @> '{"tool_calls": [{"name": "complete_task"}]}'
        )
      union
      select unnest(array[
        min(covered.seq) filter (where covered.input ? 'offered_tools'),
        min(covered.seq) filter (where covered.output @> '{"provider_tool_calls": [{"name": "web_search"}]}')
      ])
      from covered
    )
    select covered.seq,
      json_build_object(
        'seq', covered.seq, 'kind', covered.kind, 'state', covered.state, 'name', covered.name, 'call_id', covered.call_id,
        'input', case
          when covered.kind = any ('{model,user}') then covered.input
          else covered.input - 'arguments'
        end,
        'output', case
          when covered.state = 'started' then null
          when covered.kind = any ('{model,guardrail}') then covered.output
          when covered.state = 'failed' and covered.seq >= (select recent.begun_at from recent) then covered.output
          when covered.output is not null then jsonb_strip_nulls(jsonb_build_object(
            'rejected', covered.output -> 'rejected', 'error_code', covered.output -> 'error_code',
            'tools', covered.output -> 'tools'
          ))
        end
      ),
      (
        select count(*) from covered as turn
        where turn.is_turn and turn.seq > (select run.begun_after from run)
          and not exists (select from sent where sent.seq = turn.seq)
      )
    from covered
    join sent on sent.seq = covered.seq;
end;
$$;
comment on function private.covered_steps(uuid, int) is
  'What decide() reads of the steps that the newest summary covers, which end with p_through: it decides the same without their arguments and results, and without most of them. unsent_turns is the number of turns of the current run that are left out.';

create function private.task_contexts(p_tasks public.tasks[])
returns table (task_id uuid, epoch bigint, context json)
-- Not jsonb, which takes three times as long to build a transcript of a thousand steps.
language plpgsql
stable
set search_path = ''
-- Planning the statement takes ten times as long as running it.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
begin
  return query
    with
    -- Once for each agent and owner, however many tasks there are.
    staff as materialized (
      select working.agent_id as id, working.created_by, working.agent_revision, working.agent_changes, facts.*
      from (
        select distinct task.agent_id, task.created_by, task.agent_revision, task.agent_changes from unnest(p_tasks) as task
      ) as working
      cross join lateral private.agent_facts(
        working.agent_id, working.created_by, working.agent_revision, working.agent_changes
      ) as facts
    )
    select task.id, task.epoch, json_build_object(
      'task', private.task_facts(p_tasks[task.ordinality], master, case
        when staff.id is null then private.stored_bytes_left(task.created_by) else staff.stored_bytes_left
      end),
      'agent', staff.agent,
      'provider', staff.provider,
      'provider_rules', coalesce(staff.provider_rules, '{}'),
      'window_tokens', coalesce(staff.window_tokens, 128000),
      'model_max_tokens', staff.model_max_tokens,
      'fallbacks', coalesce(staff.fallbacks, '[]'),
      'guardrails', coalesce(staff.guardrails, '[]'),
      'skills', coalesce(staff.skills, '[]'),
      'handoffs', coalesce(staff.handoffs, '[]'),
      'steps', transcript.steps,
      'unsent_turns', transcript.unsent_turns,
      'reviews', coalesce((
        select json_agg(
          json_build_object(
            'seq', review.seq, 'kind', review.kind, 'approved', review.approved, 'response', review.response,
            'approved_arguments', review.approved_arguments,
            'reasons', case when review.kind <> 'question' then review.context -> 'reasons' end,
            'comments', review.comments, 'answered_at', review.answered_at,
            'is_spent', coalesce(review.answered_at < step.started_at, false)
          )
          order by review.seq
        )
        from public.human_reviews as review
        left join public.task_steps as step on step.task_id = review.task_id and step.seq = review.seq
        where review.task_id = task.id
      ), '[]'),
      'job_data_flows', coalesce(to_jsonb(totals.data_flows), '[]'),
      'first_epoch', (
        select step.epoch::text from public.task_steps as step where step.task_id = task.id order by step.seq limit 1
      )
    )
    from unnest(p_tasks) with ordinality as task
    left join private.job_totals as totals on totals.master_task_id = task.master_task_id
    -- A null id needs no search in the index.
    left join public.tasks as master on master.id = case when task.parent_id is not null then task.master_task_id end
    cross join lateral (
      select coalesce((
        select (step.input ->> 'summarizes_through')::int
        from public.task_steps as step
        where step.task_id = task.id and step.kind = 'model' and step.state = 'done' and step.input ? 'summarizes_through'
        order by step.seq desc limit 1
      ), 0) as through
    ) as summary
    cross join lateral (
      select coalesce(json_agg(sent.step order by sent.seq), '[]') as steps, coalesce(max(sent.unsent_turns), 0) as unsent_turns
      from (
        select step.seq,
          json_build_object(
            'seq', step.seq, 'kind', step.kind, 'state', step.state, 'name', step.name,
            'call_id', step.call_id, 'input', step.input, 'interruptions', step.interruptions,
            'output', case when step.name = 'load_skill' then coalesce(
              (select hidden.output from private.hidden_step_outputs as hidden
               where hidden.task_id = step.task_id and hidden.seq = step.seq),
              step.output
            )
              -- The part of an answer that was cut is for people.
              when step.state <> 'started' then step.output end
          ) as step,
          null::bigint as unsent_turns
        from public.task_steps as step
        where step.task_id = task.id and step.seq > summary.through
        union all
        select covered.* from private.covered_steps(task.id, summary.through) as covered where summary.through > 0
      ) as sent
    ) as transcript
    left join staff on staff.id = task.agent_id and staff.created_by is not distinct from task.created_by
      and staff.agent_revision is not distinct from task.agent_revision
      and staff.agent_changes is not distinct from task.agent_changes
    order by task.ordinality;
end;
$$;
comment on function private.task_contexts(public.tasks[]) is
  'Everything a worker needs to continue each task, in the order of the array: the task, its agent, its transcript without what no decision reads, and its reviews.';
