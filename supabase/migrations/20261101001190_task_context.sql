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
      and (
        not v_is_restricted
        or exists (
          select from public.agent_handoffs as handoff
          where handoff.agent_id = p_agent_id and handoff.target_agent_id = target.id
        )
      )
      and private.may_use_agent(target.id, p_user_id);
end;
$$;
comment on function private.handoff_targets(uuid, uuid) is
  'The agents that an agent may hand off to: they are active, their audience includes the job''s owner (null: the service), and they are in the agent''s rows of agent_handoffs if it has any.';

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
      select agent.id, working.created_by,
        -- As text, which is copied into the context of each task.
        (to_jsonb(agent) - 'provider_id' - 'is_active' - 'audience' - 'created_at' - 'updated_at')::json as agent,
        (to_jsonb(provider) - 'display_name' - 'is_active')::json as provider,
        private.stored_bytes_left(working.created_by) as stored_bytes_left,
        private.model_window(provider.id, coalesce(agent.model, provider.default_model)) as window_tokens,
        coalesce((
          select json_agg(
            json_build_object(
              'provider', to_jsonb(other) - 'display_name' - 'is_active',
              'model', fallback.model,
              'is_priced', private.is_priced(agent.id, other.id, coalesce(fallback.model, other.default_model))
            )
            order by fallback.priority
          )
          from public.agent_fallbacks as fallback
          join public.llm_providers as other on other.id = fallback.provider_id
          where fallback.agent_id = agent.id and other.is_active
        ), '[]') as fallbacks,
        coalesce((
          select json_agg(
            json_build_object('stage', guardrail.stage, 'server', tool.slug, 'tool_name', guardrail.tool_name)
            order by guardrail.priority
          )
          from public.agent_guardrails as guardrail
          join public.tools as tool on tool.id = guardrail.tool_id
          where guardrail.agent_id = agent.id
        ), '[]') as guardrails,
        coalesce((
          select json_agg(
            json_build_object('skill_id', skill.skill_id, 'name', skill.name, 'description', skill.description)
            order by agent_skill.priority, skill.skill_id
          )
          from public.agent_skills as agent_skill
          join public.skills as skill on skill.id = agent_skill.skill_id
          where agent_skill.agent_id = agent.id and skill.is_active
        ), '[]') as skills,
        coalesce((
          select json_agg(
            json_build_object('slug', target.slug, 'description', target.description) order by target.slug
          )
          from private.handoff_targets(agent.id, working.created_by) as target
        ), '[]') as handoffs
      from (select distinct task.agent_id, task.created_by from unnest(p_tasks) as task) as working
      join public.agents as agent on agent.id = working.agent_id
      left join public.llm_providers as provider on provider.id = agent.provider_id and provider.is_active
    )
    select task.id, task.epoch, json_build_object(
      'task', json_build_object(
        'id', task.id,
        'master_task_id', task.master_task_id,
        'parent_id', task.parent_id,
        'created_by', task.created_by,
        'agent_slug', task.agent_slug,
        'input', task.input,
        'depth', task.depth,
        'attempts', task.attempts,
        'deliveries', task.deliveries,
        'works_alone', task.works_alone,
        'intermediate_data', task.intermediate_data,
        'storage_paths', to_jsonb(task.storage_paths),
        'metadata', task.metadata,
        'traceparent', task.traceparent,
        'tracestate', task.tracestate,
        'budget', case when task.parent_id is null then task.budget else master.budget end,
        'stored_bytes_left', case
          when staff.id is null then private.stored_bytes_left(task.created_by) else staff.stored_bytes_left
        end,
        'has_cost_cap',
          task.parent_id is not null and private.cap(master.budget, 'max_cost_micro_usd', null) is not null,
        'output_schema', task.output_schema,
        'master_input', case when task.parent_id is null then task.input else private.checked_input(master) end
      ),
      'agent', staff.agent,
      'provider', staff.provider,
      'window_tokens', coalesce(staff.window_tokens, 128000),
      'fallbacks', coalesce(staff.fallbacks, '[]'),
      'guardrails', coalesce(staff.guardrails, '[]'),
      'skills', coalesce(staff.skills, '[]'),
      'handoffs', coalesce(staff.handoffs, '[]'),
      'steps', coalesce((
        select json_agg(
          json_build_object(
            'seq', step.seq, 'kind', step.kind, 'state', step.state, 'name', step.name,
            'call_id', step.call_id, 'input', step.input, 'usage', step.usage,
            'output', case when step.name = 'load_skill' then coalesce(
              (select hidden.output from private.hidden_step_outputs as hidden
               where hidden.task_id = step.task_id and hidden.seq = step.seq),
              step.output
            ) else step.output end
          )
          order by step.seq
        )
        from public.task_steps as step
        where step.task_id = task.id
      ), '[]'),
      'reviews', coalesce((
        select json_agg(
          json_build_object(
            'seq', review.seq, 'approved', review.approved, 'response', review.response,
            'comments', review.comments, 'answered_at', review.answered_at,
            'is_spent', coalesce(review.answered_at < step.started_at, false)
          )
          order by review.seq
        )
        from public.human_reviews as review
        left join public.task_steps as step on step.task_id = review.task_id and step.seq = review.seq
        where review.task_id = task.id
      ), '[]'),
      'job_data_flows', coalesce(to_jsonb(totals.data_flows), '[]')
    )
    from unnest(p_tasks) with ordinality as task
    left join private.job_totals as totals on totals.master_task_id = task.master_task_id
    -- A null id needs no search in the index.
    left join public.tasks as master on master.id = case when task.parent_id is not null then task.master_task_id end
    left join staff on staff.id = task.agent_id and staff.created_by is not distinct from task.created_by
    order by task.ordinality;
end;
$$;
comment on function private.task_contexts(public.tasks[]) is
  'Everything a worker needs to continue each task, in the order of the array: the task, its agent, its transcript and its reviews.';
