-- Push: writes the definitions of files into the registry, in one transaction, and says what that changes.

create table private.pushed_definitions (
  kind text not null check (kind = any (private.definition_kinds())),
  slug text not null,
  definition jsonb not null,
  pushed_at timestamptz not null default clock_timestamp(),
  pushed_by text,
  primary key (kind, slug)
);
comment on table private.pushed_definitions is
  'The definitions as the last push left them. A definition that differs now was changed in the database. Written by push_definitions().';
comment on column private.pushed_definitions.pushed_by is 'Who pushed, as the caller of push_definitions() names itself.';
alter table private.pushed_definitions enable row level security;

create function private.changed_fields(p_before jsonb, p_after jsonb)
returns jsonb
language sql
immutable
set search_path = ''
as $$
  select coalesce(jsonb_agg(name order by name), '[]')
  from (
    select jsonb_object_keys(coalesce(changed_fields.p_before, '{}')) as name
    union
    select jsonb_object_keys(coalesce(changed_fields.p_after, '{}'))
  ) as field
  where changed_fields.p_before -> name is distinct from changed_fields.p_after -> name;
$$;
comment on function private.changed_fields(jsonb, jsonb) is 'The names of the members in which two objects differ.';

create function private.affected_by(p_kind text, p_slug text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select private.without_nulls(jsonb_build_object(
    'agents', (
      select nullif(jsonb_agg(agent.slug order by agent.slug), '[]')
      from public.agents as agent
      where agent.is_active and case affected_by.p_kind
        when 'tool' then exists (
          select from public.agent_tools as granted join public.tools as tool on tool.id = granted.tool_id
          where granted.agent_id = agent.id and tool.slug = affected_by.p_slug)
        when 'skill' then exists (
          select from public.agent_skills as given join public.skills as skill on skill.id = given.skill_id
          where given.agent_id = agent.id and skill.skill_id = affected_by.p_slug)
        when 'agent' then exists (
          select from public.agent_handoffs as handoff join public.agents as target on target.id = handoff.target_agent_id
          where handoff.agent_id = agent.id and target.slug = affected_by.p_slug)
        else false
      end
    ),
    'schedules', case when affected_by.p_kind = 'agent' then (
      select nullif(count(*), 0) from public.schedules as schedule where schedule.is_active and schedule.agent = affected_by.p_slug
    ) end,
    'triggers', case when affected_by.p_kind = 'agent' then (
      select nullif(count(*), 0) from public.row_triggers as listed where listed.is_active and listed.agent = affected_by.p_slug
    ) end,
    'unfinished_tasks', case when affected_by.p_kind = 'agent' then (
      select nullif(count(*), 0)
      from public.tasks as task
      join public.agents as agent on agent.id = task.agent_id
      where agent.slug = affected_by.p_slug and task.finished_at is null
    ) end
  ));
$$;
comment on function private.affected_by(text, text) is
  'Who notices a change of a definition: {agents that use it, schedules and triggers that start it, unfinished_tasks of it}.';

create function private.remove_definition(p_kind text, p_slug text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  case p_kind
    when 'agent' then
      delete from public.agents as agent
      where agent.slug = p_slug and not exists (select from public.tasks as task where task.agent_id = agent.id);
      -- An agent with tasks stays for their history.
      update public.agents set is_active = false where slug = p_slug;
    when 'tool' then delete from public.tools where slug = p_slug and type in ('http_api', 'supabase_rpc');
    when 'skill' then delete from public.skills where skill_id = p_slug;
    when 'schedule' then delete from public.schedules where created_by is null and name = p_slug;
    when 'webhook' then delete from public.webhooks where created_by is null and name = p_slug;
    when 'alert' then delete from public.alerts where name = p_slug;
    when 'trigger' then delete from public.row_triggers where name = p_slug;
  end case;
end;
$$;
comment on function private.remove_definition(text, text) is
  'Removes what a definition describes. An agent that has tasks is deactivated instead.';

create function private.write_definitions(p_definitions jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_one record;
  v_detail text;
begin
  perform private.assert_definition_is_flat('save the definitions', p_definitions);
  -- What others refer to comes first; agents may refer to each other.
  for v_one in
    select listed.kind, listed.slug, listed.definition
    from jsonb_to_recordset(p_definitions) as listed (kind text, slug text, definition jsonb)
    order by array_position(private.definition_kinds(), listed.kind), listed.slug
  loop
    case v_one.kind
      when 'tool' then perform private.write_tool(v_one.slug, v_one.definition);
      when 'skill' then perform private.write_skill(v_one.slug, v_one.definition);
      when 'agent' then perform private.write_agent_row(v_one.slug, v_one.definition);
      else null;
    end case;
  end loop;
  for v_one in
    select listed.kind, listed.slug, listed.definition
    from jsonb_to_recordset(p_definitions) as listed (kind text, slug text, definition jsonb)
    order by array_position(private.definition_kinds(), listed.kind), listed.slug
  loop
    case v_one.kind
      when 'agent' then perform private.write_agent_parts(v_one.slug, v_one.definition);
      when 'schedule' then perform private.write_schedule(v_one.slug, v_one.definition);
      when 'webhook' then perform private.write_webhook(v_one.slug, v_one.definition);
      when 'alert' then perform private.write_alert(v_one.slug, v_one.definition);
      when 'trigger' then perform private.write_row_trigger(v_one.slug, v_one.definition);
      else null;
    end case;
  end loop;
exception
  when unique_violation then
    get stacked diagnostics v_detail = pg_exception_detail;
    perform private.raise_error('DEFINITION_INVALID', format('Cannot save the %s "%s": %s', v_one.kind, v_one.slug, v_detail),
      'Use another value.');
  when check_violation or not_null_violation or data_exception then
    perform private.raise_error('DEFINITION_INVALID', format('Cannot save the %s "%s": %s', v_one.kind, v_one.slug, sqlerrm),
      'docs/reference/agent-files.md lists the fields and their values.');
end;
$$;
comment on function private.write_definitions(jsonb) is
  'Writes definitions [{kind, slug, definition}] in the order in which they refer to each other. Raises DEFINITION_INVALID, and what the rows raise.';

create function private.push_definitions(p_definitions jsonb, p_prune boolean default false, p_pushed_by text default null)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_before jsonb;
  v_affected jsonb;
  v_gone record;
  v_changes jsonb;
begin
  -- A concurrent push waits, and then has nothing to do.
  perform pg_advisory_xact_lock(hashtextextended('supaswarm:push', 0));
  perform set_config('supaswarm.pushed_by', coalesce(p_pushed_by, ''), true);
  select coalesce(jsonb_object_agg(known.kind || '/' || known.slug, known.definition), '{}') into v_before
  from private.definitions() as known;
  -- Before a removal, because it also removes what refers to the row.
  select coalesce(jsonb_object_agg(known.kind || '/' || known.slug, private.affected_by(known.kind, known.slug)), '{}') into v_affected
  from private.definitions() as known;

  perform private.write_definitions(p_definitions);
  for v_gone in
    select pushed.kind, pushed.slug
    from private.pushed_definitions as pushed
    where p_prune and not p_definitions @> jsonb_build_array(jsonb_build_object('kind', pushed.kind, 'slug', pushed.slug))
    order by array_position(private.definition_kinds(), pushed.kind) desc, pushed.slug
  loop
    perform private.remove_definition(v_gone.kind, v_gone.slug);
  end loop;

  with listed as (
    select wanted.kind, wanted.slug, true as is_wanted
    from jsonb_to_recordset(p_definitions) as wanted (kind text, slug text)
    union
    select pushed.kind, pushed.slug, false
    from private.pushed_definitions as pushed
    where not p_definitions @> jsonb_build_array(jsonb_build_object('kind', pushed.kind, 'slug', pushed.slug))
  ),
  compared as (
    select listed.*, v_before -> (listed.kind || '/' || listed.slug) as before, known.definition as after,
      pushed.definition as pushed, v_affected -> (listed.kind || '/' || listed.slug) as affected
    from listed
    left join private.definitions() as known on known.kind = listed.kind and known.slug = listed.slug
    left join private.pushed_definitions as pushed on pushed.kind = listed.kind and pushed.slug = listed.slug
  )
  select coalesce(jsonb_agg(private.without_nulls(jsonb_build_object(
    'kind', compared.kind,
    'slug', compared.slug,
    'change', case
      when not compared.is_wanted then case when p_prune then 'removed' when compared.before is null then 'gone' else 'left' end
      when compared.before is null then 'created'
      when compared.before is distinct from compared.after then 'changed'
      else 'unchanged'
    end,
    'fields', nullif(private.changed_fields(compared.before, compared.after), '[]'),
    'before', case when compared.before is distinct from compared.after then compared.before end,
    'after', case when compared.before is distinct from compared.after then compared.after end,
    'drift', case when compared.pushed is not null
      then nullif(private.changed_fields(compared.pushed, compared.before), '[]') end,
    'affected', nullif(compared.affected, '{}')
  )) order by array_position(private.definition_kinds(), compared.kind), compared.slug), '[]')
  into v_changes
  from compared;

  delete from private.pushed_definitions as pushed
  where p_prune and not p_definitions @> jsonb_build_array(jsonb_build_object('kind', pushed.kind, 'slug', pushed.slug));
  insert into private.pushed_definitions (kind, slug, definition, pushed_by)
  select known.kind, known.slug, known.definition, p_pushed_by
  from private.definitions() as known
  where p_definitions @> jsonb_build_array(jsonb_build_object('kind', known.kind, 'slug', known.slug))
  on conflict (kind, slug) do update
  set definition = excluded.definition, pushed_at = excluded.pushed_at, pushed_by = excluded.pushed_by;

  return jsonb_build_object(
    'changes', v_changes,
    'problems', coalesce((
      select jsonb_agg(to_jsonb(listed)) from private.configuration_problems() as listed
      where p_definitions @> jsonb_build_array(jsonb_build_object('kind', listed.kind, 'slug', listed.name))
    ), '[]')
  );
end;
$$;
comment on function private.push_definitions(jsonb, boolean, text) is
  'Writes definitions [{kind, slug, definition}], and with p_prune removes those of earlier pushes that are missing. Returns {changes: [{kind, slug, change, fields, before, after, drift, affected}], problems: those of configuration_problems() that concern them}. change: created, changed, unchanged, removed, left (no file, without p_prune) or gone (no file, no row). drift: fields that were changed in the database since the last push. A caller that rolls back has made a dry run. Called by push, and by start when files are saved.';

create function private.seed_definitions(p_definitions jsonb)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_new constant jsonb := coalesce((
    select jsonb_agg(to_jsonb(listed))
    from jsonb_to_recordset(p_definitions) as listed (kind text, slug text, definition jsonb)
    where not exists (
      select from private.definitions() as known where known.kind = listed.kind and known.slug = listed.slug
    )
  ), '[]');
begin
  perform private.write_definitions(v_new);
  insert into private.pushed_definitions (kind, slug, definition, pushed_by)
  select known.kind, known.slug, known.definition, 'seed'
  from private.definitions() as known
  where v_new @> jsonb_build_array(jsonb_build_object('kind', known.kind, 'slug', known.slug))
  on conflict (kind, slug) do nothing;
end;
$$;
comment on function private.seed_definitions(jsonb) is
  'Writes those of the definitions [{kind, slug, definition}] that do not exist yet. Called by supabase/seed.sql.';
