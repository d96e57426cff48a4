-- Skills, as the Agent Skills standard defines them, and which agents have them.

create table public.skills (
  id uuid primary key default gen_random_uuid(),
  skill_id text not null unique check (skill_id ~ '^[a-z0-9][a-z0-9-]{0,63}$'),
  name text not null,
  description text not null,
  metadata jsonb,
  instructions text,
  resources jsonb check (jsonb_typeof(resources) = 'object'),
  version text default '1.0.0',
  is_active boolean not null default true,
  created_at timestamptz not null default now()
);
revoke all on public.skills from anon, authenticated, service_role;
create index idx_skills_skill_id on public.skills (skill_id);
comment on table public.skills is
  'Skills in three levels: name and description (always in the prompt), instructions (on load_skill), resources (one at a time). Written by the service role; users read the names and descriptions of their agents'' skills.';
comment on column public.skills.metadata is 'Front matter fields that the platform does not know, unchanged, and the list of files that were not imported as text.';
comment on column public.skills.resources is 'Text resources by relative path.';

create table public.agent_skills (
  agent_id uuid not null references public.agents (id) on delete cascade,
  skill_id uuid not null references public.skills (id) on delete cascade,
  priority int not null default 5,
  primary key (agent_id, skill_id)
);
revoke all on public.agent_skills from anon, authenticated, service_role;
create index agent_skills_skill_id_idx on public.agent_skills (skill_id);
comment on table public.agent_skills is 'Which agent has which skill.';
comment on column public.agent_skills.priority is 'Order in the prompt, lower values first.';

alter table public.agent_skills enable row level security;
create policy "users read the skills of agents that they may use" on public.agent_skills
  for select to authenticated using (exists (select from public.agents as agent where agent.id = agent_id));
comment on policy "users read the skills of agents that they may use" on public.agent_skills is
  'Users read the skills of the agents that they may use.';
grant select on public.agent_skills to authenticated;
grant select, insert, update, delete on public.agent_skills to service_role;

alter table public.skills enable row level security;
create policy "users read what the agents that they may use can do" on public.skills
  for select to authenticated using (exists (
    select from public.agent_skills as given where given.skill_id = skills.id
  ));
comment on policy "users read what the agents that they may use can do" on public.skills is
  'Users read names and descriptions. Instructions and resources are not granted.';
grant select (id, skill_id, name, description, version, is_active, created_at)
  on public.skills to authenticated;
grant select, insert, update, delete on public.skills to service_role;
