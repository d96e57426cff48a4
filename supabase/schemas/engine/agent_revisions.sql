-- Revisions: every transaction that changes an agent, or what belongs to it, leaves a numbered copy of its
-- definition. A job runs with the revisions that were current when it began, until it ends; a retry, a continuation
-- and a fork begin anew.
--
-- What an agent may do (its tools, approvals, audience and handoffs) is always as it is now, because taking a right
-- away has to take effect at once. What an agent is (prompt, models, schemas, skills, guardrails) is pinned.

create table public.agent_revisions (
  agent_id uuid not null references public.agents (id) on delete cascade,
  revision int not null check (revision > 0),
  definition jsonb not null,
  content_hash text not null,
  author text,
  created_by uuid,
  created_at timestamptz not null default clock_timestamp(),
  primary key (agent_id, revision)
);
revoke all on public.agent_revisions from anon, authenticated, service_role;
comment on table public.agent_revisions is
  'Definitions of agents as they were after each change. Rows are only added. Readable by operators through operator_agent_revisions and by the service.';
comment on column public.agent_revisions.content_hash is 'SHA-256 of the definition. Two revisions with the same hash are equal, such as one that was rolled back to.';
comment on column public.agent_revisions.author is 'Who changed the agent, as deno task push names itself; null for a change in the database.';
comment on column public.agent_revisions.created_by is 'The account that changed the agent; null for the service.';
alter table public.agent_revisions enable row level security;
grant select on public.agent_revisions to service_role;

create function private.record_revision(p_agent_id uuid)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_agent public.agents;
  v_definition jsonb;
  v_hash text;
begin
  select * into v_agent from public.agents where id = p_agent_id for no key update;
  if not found then
    return;
  end if;
  v_definition := private.agent_definition(v_agent);
  v_hash := encode(sha256(convert_to(v_definition::text, 'utf8')), 'hex');
  if v_hash = (
    select content_hash from public.agent_revisions where agent_id = p_agent_id and revision = v_agent.revision
  ) then
    return;
  end if;
  insert into public.agent_revisions (agent_id, revision, definition, content_hash, author, created_by)
  values (
    p_agent_id, coalesce(v_agent.revision, 0) + 1, v_definition, v_hash,
    nullif(current_setting('supaswarm.pushed_by', true), ''), auth.uid()
  );
  update public.agents set revision = coalesce(v_agent.revision, 0) + 1 where id = p_agent_id;
end;
$$;
comment on function private.record_revision(uuid) is
  'Adds a revision if the agent''s definition differs from its newest one.';

create function private.record_agent_change()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_row constant jsonb := coalesce(to_jsonb(new), to_jsonb(old));
begin
  perform private.record_revision((v_row ->> coalesce(tg_argv[0], 'agent_id'))::uuid);
  return null;
end;
$$;
comment on function private.record_agent_change() is
  'Row trigger (the column with the agent''s id) at the end of a transaction that changed an agent or what belongs to it. Definer: the writers may not write revisions.';

create constraint trigger agents_record_revision after insert or update on public.agents
  deferrable initially deferred for each row execute function private.record_agent_change('id');
create constraint trigger agent_tools_record_revision after insert or update or delete on public.agent_tools
  deferrable initially deferred for each row execute function private.record_agent_change();
create constraint trigger agent_skills_record_revision after insert or update or delete on public.agent_skills
  deferrable initially deferred for each row execute function private.record_agent_change();
create constraint trigger agent_handoffs_record_revision after insert or update or delete on public.agent_handoffs
  deferrable initially deferred for each row execute function private.record_agent_change();
create constraint trigger agent_fallbacks_record_revision after insert or update or delete on public.agent_fallbacks
  deferrable initially deferred for each row execute function private.record_agent_change();
create constraint trigger agent_guardrails_record_revision after insert or update or delete on public.agent_guardrails
  deferrable initially deferred for each row execute function private.record_agent_change();
create constraint trigger agent_approvals_record_revision after insert or update or delete on public.agent_approvals
  deferrable initially deferred for each row execute function private.record_agent_change();

create function private.revision_of_job(p_agent_id uuid, p_master_task_id uuid)
returns int
language plpgsql
stable
set search_path = ''
as $$
begin
  return coalesce(
    (
      select max(revision.revision)
      from public.agent_revisions as revision
      join public.tasks as master on master.id = p_master_task_id
      -- A retried or continued job has started again.
      where revision.agent_id = p_agent_id and revision.created_at <= greatest(master.created_at, master.started_at)
    ),
    -- The agent is younger than the job.
    1
  );
end;
$$;
comment on function private.revision_of_job(uuid, uuid) is
  'The revision of an agent that was current when a job began, for the job''s subtasks.';

create function private.agent_facts_of_revision(p_agent public.agents, p_user_id uuid, p_revision int, p_changes jsonb)
returns table (
  agent json, provider json, provider_rules json, stored_bytes_left bigint, window_tokens int, model_max_tokens int,
  fallbacks json, guardrails json, skills json, handoffs json
)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_definition constant jsonb := coalesce(
    (
      select revision.definition from public.agent_revisions as revision
      where revision.agent_id = p_agent.id and revision.revision = p_revision
    ),
    private.agent_definition(p_agent)
  ) || coalesce(p_changes, '{}');
  v_agent public.agents := p_agent;
  v_provider public.llm_providers;
begin
  v_agent.system_prompt := v_definition ->> 'prompt';
  v_agent.model := v_definition ->> 'model';
  v_agent.temperature := (v_definition ->> 'temperature')::numeric;
  v_agent.max_tokens := (v_definition ->> 'max_tokens')::int;
  v_agent.max_turns := (v_definition ->> 'max_turns')::int;
  v_agent.max_continuations := coalesce((v_definition ->> 'max_continuations')::int, 3);
  v_agent.reasoning_effort := v_definition ->> 'reasoning_effort';
  v_agent.provider_tools := coalesce(private.texts_of(v_definition -> 'provider_tools'), '{}');
  v_agent.input_schema := v_definition -> 'input_schema';
  v_agent.output_schema := v_definition -> 'output_schema';
  v_agent.must_complete := coalesce((v_definition ->> 'must_complete')::boolean, false);
  v_agent.revision := p_revision;
  select * into v_provider from public.llm_providers as used
  where used.name = v_definition ->> 'provider' and used.is_active;

  agent := row_to_json(v_agent);
  if v_provider.id is not null then
    provider := row_to_json(v_provider);
  end if;
  provider_rules := (
    select json_object_agg(tool, jsonb_path_query_array(private.approval_rules(p_agent.id, null, tool, p_user_id), '$[*].ask'))
    from unnest(v_agent.provider_tools) as tool
  );
  if p_user_id is not null then
    stored_bytes_left := private.stored_bytes_left(p_user_id);
  end if;
  window_tokens := private.model_window(v_provider.id, coalesce(v_agent.model, v_provider.default_model));
  model_max_tokens := private.model_max_tokens(v_provider.id, coalesce(v_agent.model, v_provider.default_model));
  fallbacks := (
    select json_agg(
      json_build_object(
        'provider', to_jsonb(other) - '{display_name,is_active}'::text[],
        'model', fallback ->> 'model',
        'is_priced', private.is_priced(p_agent.id, other.id, coalesce(fallback ->> 'model', other.default_model))
      )
      order by place
    )
    from jsonb_array_elements(v_definition -> 'fallbacks') with ordinality as listed (fallback, place)
    join public.llm_providers as other on other.name = fallback ->> 'provider' and other.is_active
  );
  guardrails := (
    select json_agg(
      json_build_object('stage', guardrail ->> 'stage', 'server', guardrail ->> 'tool', 'tool_name', guardrail ->> 'tool_name')
      order by place
    )
    from jsonb_array_elements(v_definition -> 'guardrails') with ordinality as listed (guardrail, place)
  );
  skills := (
    select json_agg(
      json_build_object('skill_id', skill.skill_id, 'name', skill.name, 'description', skill.description) order by place
    )
    from jsonb_array_elements_text(v_definition -> 'skills') with ordinality as listed (skill_id, place)
    join public.skills as skill on skill.skill_id = listed.skill_id and skill.is_active
    -- load_skill() reads only what the agent has now.
    join public.agent_skills as given on given.skill_id = skill.id and given.agent_id = p_agent.id
  );
  handoffs := (
    select json_agg(
      json_build_object('slug', target.slug, 'description', target.description) order by target.slug
    )
    from private.handoff_targets(p_agent.id, p_user_id) as target
  );
  return next;
end;
$$;
comment on function private.agent_facts_of_revision(public.agents, uuid, int, jsonb) is
  'What agent_facts() returns, for an older revision or with changes: prompt, models, schemas, skills and guardrails as they were or are changed; handoffs and rules as they are now.';

create function private.rollback_agent(p_slug text, p_revision int, p_author text)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_agent public.agents;
  v_definition jsonb;
  v_revisions int[];
begin
  -- A concurrent push or save waits.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:push', 0));
  select * into v_agent from public.agents where id = private.id_of('agent', p_slug, 'roll back');
  select array_agg(revision.revision order by revision.revision) into v_revisions
  from public.agent_revisions as revision where revision.agent_id = v_agent.id;
  select revision.definition into v_definition
  from public.agent_revisions as revision
  where revision.agent_id = v_agent.id and revision.revision = coalesce(p_revision, v_agent.revision - 1);
  if v_definition is null then
    perform private.raise_error('REVISION_NOT_FOUND',
      format('Cannot roll back the agent "%s": it has no revision %s', p_slug, coalesce(p_revision, v_agent.revision - 1)),
      format('It has the revisions %s.', array_to_string(v_revisions, ', ')));
  end if;
  perform set_config('supaswarm.pushed_by', coalesce(p_author, ''), true);
  perform private.write_definitions(
    jsonb_build_array(jsonb_build_object('kind', 'agent', 'slug', p_slug, 'definition', v_definition))
  );
  perform private.record_revision(v_agent.id);
  return (select revision from public.agents where id = v_agent.id);
end;
$$;
comment on function private.rollback_agent(text, int, text) is
  'Writes an earlier revision of an agent (null: the one before the newest) as its newest, and returns the newest number. Raises AGENT_NOT_FOUND, REVISION_NOT_FOUND, DEFINITION_INVALID, and the codes of id_of() for what the revision names and no longer exists.';

create function private.operator_agent_revisions()
returns table (
  agent_slug text, revision int, is_current boolean, content_hash text, author text, created_by uuid, created_at timestamptz,
  definition jsonb
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('list the revisions of the agents');
  return query
    select agent.slug, kept.revision, kept.revision = agent.revision, kept.content_hash, kept.author, kept.created_by,
      kept.created_at, kept.definition
    from public.agent_revisions as kept
    join public.agents as agent on agent.id = kept.agent_id
    order by agent.slug, kept.revision desc;
end;
$$;
comment on function private.operator_agent_revisions() is
  'The revisions of all agents, for operators. Definer: definitions have prompts, which users may not read; assert_operator() checks the caller.';
create view public.operator_agent_revisions with (security_invoker = true) as
  select * from private.operator_agent_revisions();
revoke all on public.operator_agent_revisions from anon, authenticated, service_role;
comment on view public.operator_agent_revisions is
  'The definitions of agents as they were after each change, newest first. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_agent_revisions() to authenticated, service_role;
grant select on public.operator_agent_revisions to authenticated, service_role;
