-- The registry of agents and who may hand off to whom.

create table public.agents (
  id uuid primary key default gen_random_uuid(),
  name text not null unique,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  description text,
  system_prompt text not null,
  provider_id uuid references public.llm_providers (id),
  model text,
  temperature decimal default 0.7,
  max_tokens int check (max_tokens > 0),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index idx_agents_slug on public.agents (slug);
create index agents_provider_id_idx on public.agents (provider_id);
comment on table public.agents is 'Reusable agents. Written by the service role, readable to signed-in users.';
comment on column public.agents.model is 'Null: the provider''s default model.';
comment on column public.agents.max_tokens is 'Most output tokens of one model call; null leaves it to the provider.';

create trigger agents_touch_updated_at before update on public.agents
  for each row execute function private.touch_updated_at();

alter table public.agents enable row level security;
revoke all on public.agents from anon, authenticated, service_role;
create policy "signed-in users read agents" on public.agents
  for select to authenticated using (true);
comment on policy "signed-in users read agents" on public.agents is
  'Whoever may create tasks chooses an agent.';
grant select on public.agents to authenticated;
grant select, insert, update, delete on public.agents to service_role;

create table public.agent_handoffs (
  agent_id uuid not null references public.agents (id) on delete cascade,
  target_agent_id uuid not null references public.agents (id) on delete cascade,
  primary key (agent_id, target_agent_id)
);
create index agent_handoffs_target_agent_id_idx on public.agent_handoffs (target_agent_id);
comment on table public.agent_handoffs is
  'Restricts handoffs: an agent without rows may hand off to any active agent, with rows only to these.';

alter table public.agent_handoffs enable row level security;
revoke all on public.agent_handoffs from anon, authenticated, service_role;
create policy "signed-in users read handoffs" on public.agent_handoffs
  for select to authenticated using (true);
comment on policy "signed-in users read handoffs" on public.agent_handoffs is
  'Which agents a job may reach.';
grant select on public.agent_handoffs to authenticated;
grant select, insert, update, delete on public.agent_handoffs to service_role;
