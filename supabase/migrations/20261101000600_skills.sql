-- Skills by the Agent Skills standard, and which agent has them.

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
create index idx_skills_skill_id on public.skills (skill_id);
comment on table public.skills is
  'Skills in three levels: name and description (always in the prompt), instructions (on load_skill), resources (one at a time). Written by the service role.';
comment on column public.skills.metadata is 'Unknown front matter, kept as it was, and the list of files that were not imported as text.';
comment on column public.skills.resources is 'Text resources by relative path.';

alter table public.skills enable row level security;
revoke all on public.skills from anon, authenticated, service_role;
create policy "signed-in users read skills" on public.skills
  for select to authenticated using (true);
comment on policy "signed-in users read skills" on public.skills is
  'What agents may be given.';
grant select on public.skills to authenticated;
grant select, insert, update, delete on public.skills to service_role;

create table public.agent_skills (
  agent_id uuid not null references public.agents (id) on delete cascade,
  skill_id uuid not null references public.skills (id) on delete cascade,
  priority int not null default 5,
  primary key (agent_id, skill_id)
);
create index agent_skills_skill_id_idx on public.agent_skills (skill_id);
comment on table public.agent_skills is 'Which agent has which skill.';
comment on column public.agent_skills.priority is 'Order in the prompt, lower first.';

alter table public.agent_skills enable row level security;
revoke all on public.agent_skills from anon, authenticated, service_role;
create policy "signed-in users read agent skills" on public.agent_skills
  for select to authenticated using (true);
comment on policy "signed-in users read agent skills" on public.agent_skills is
  'Which skills an agent has.';
grant select on public.agent_skills to authenticated;
grant select, insert, update, delete on public.agent_skills to service_role;
