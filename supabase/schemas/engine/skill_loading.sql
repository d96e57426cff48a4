-- Loading a skill: its instructions (level two) and its resources, one at a time (level three).

create function private.load_skill(p_task_id uuid, p_skill_id text)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
    'skill_id', skill.skill_id,
    'name', skill.name,
    'description', skill.description,
    'instructions', skill.instructions,
    'resources', coalesce(skill.resources, '{}'),
    'metadata', coalesce(skill.metadata, '{}')
  )
  from public.tasks as task
  join public.agent_skills as agent_skill on agent_skill.agent_id = task.agent_id
  join public.skills as skill on skill.id = agent_skill.skill_id
  where task.id = load_skill.p_task_id
    and skill.skill_id = load_skill.p_skill_id
    and skill.is_active;
$$;
comment on function private.load_skill(uuid, text) is
  'A complete skill if the task''s agent has it and it is active, else null. Called by workers.';
