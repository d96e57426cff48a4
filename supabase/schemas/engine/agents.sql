-- The registry of agents and their allowed handoffs.

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
  reasoning_effort text
    check (reasoning_effort in ('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
  provider_tools text[] not null default '{}'
    check (provider_tools <@ array['web_search', 'code_execution']),
  input_schema jsonb check (jsonb_typeof(input_schema) = 'object'),
  output_schema jsonb check (jsonb_typeof(output_schema) = 'object'),
  must_complete boolean not null default false,
  max_turns int check (max_turns > 0),
  max_continuations int not null default 3 check (max_continuations between 0 and 20),
  budget jsonb check (jsonb_typeof(budget) = 'object'),
  may_hand_off boolean not null default true,
  is_active boolean not null default true,
  audience text not null default 'everyone' check (audience in ('everyone', 'named')),
  revision int,
  runner text check (runner ~ '^[a-z0-9][a-z0-9_-]{0,62}$'),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
revoke all on public.agents from anon, authenticated, service_role;
create index idx_agents_slug on public.agents (slug);
create index agents_provider_id_idx on public.agents (provider_id);
comment on table public.agents is 'Reusable agents. Written by the service role; users see the agents that they may use, without their prompts.';
comment on column public.agents.system_prompt is 'Not readable by users.';
comment on column public.agents.audience is 'everyone: every user may create tasks for the agent, and every job may hand off to it. named: only the users in agent_audience and their jobs.';
comment on column public.agents.revision is 'The newest row of agent_revisions. Written at the end of each transaction that changes the agent.';
comment on column public.agents.runner is 'Null: a model decides in the agent''s tasks. Otherwise the agent is a workflow, and this is the edge function, or the process, whose code decides. Written by register_workflows().';
comment on column public.agents.model is 'Null: the provider''s default model.';
comment on column public.agents.input_schema is 'JSON Schema that the input of the agent''s tasks must match. Null: any object or text.';
comment on column public.agents.max_turns is 'Most model calls of one task; the task then fails with TURNS_EXCEEDED. Null: only the budget limits them.';
comment on column public.agents.max_continuations is 'Most model calls that continue one answer whose text was cut at the output limit. What is still cut then is the result, with a warning in tasks.warnings; the task fails with MODEL_OUTPUT_CUT if the agent has an output_schema or must_complete.';
comment on column public.agents.budget is 'Caps of the jobs that start with this agent. A job may have lower caps.';
comment on column public.agents.may_hand_off is 'False: the agent hands off to nobody, whatever agent_handoffs contains.';
comment on column public.agents.output_schema is 'JSON Schema for the results of the agent''s tasks; a task may have its own. Null: any text or value.';
comment on column public.agents.must_complete is 'When true, only complete_task ends a task: an answer without a tool call first gets a reminder.';
comment on column public.agents.reasoning_effort is 'How much the model reasons before it answers, as the provider defines it. A call with a reasoning effort has no temperature. Null: the provider''s default.';
comment on column public.agents.provider_tools is 'Tools that the model''s provider runs. model_prices has their prices.';
comment on column public.agents.max_tokens is 'Most output tokens of one model call. Null: the provider''s default.';

create trigger agents_touch_updated_at before update on public.agents
  for each row execute function private.touch_updated_at();

create table public.agent_audience (
  agent_id uuid not null references public.agents (id) on delete cascade,
  user_id uuid not null references auth.users (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (agent_id, user_id)
);
revoke all on public.agent_audience from anon, authenticated, service_role;
create index agent_audience_user_id_idx on public.agent_audience (user_id);
comment on table public.agent_audience is
  'Users who may use the agents whose audience is ''named''. Written by the service role.';

alter table public.agent_audience enable row level security;
create policy "users see which agents name them" on public.agent_audience
  for select to authenticated using (user_id = (select auth.uid()));
comment on policy "users see which agents name them" on public.agent_audience is
  'Users read their own rows, because the policy of agents reads this table with the user''s rights.';
grant select on public.agent_audience to authenticated;
grant select, insert, update, delete on public.agent_audience to service_role;

alter table public.agents enable row level security;
create policy "users read the agents that they may use" on public.agents
  for select to authenticated using (
    audience = 'everyone'
    or exists (
      select from public.agent_audience as named
      where named.agent_id = agents.id and named.user_id = (select auth.uid())
    )
  );
comment on policy "users read the agents that they may use" on public.agents is
  'Users choose an agent for a task from this table. The prompt is not granted.';
grant select (
  id, name, slug, description, provider_id, model, temperature, max_tokens, input_schema, output_schema,
  reasoning_effort, provider_tools, must_complete, max_turns, max_continuations, budget, may_hand_off, is_active, audience, revision,
  runner, created_at, updated_at
) on public.agents to authenticated;
grant select, insert, update, delete on public.agents to service_role;

create function private.may_use_agent(p_agent_id uuid, p_user_id uuid)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  if p_user_id is null then
    return true;
  end if;
  return exists (select from public.agents where id = p_agent_id and audience = 'everyone')
    or exists (select from public.agent_audience where agent_id = p_agent_id and user_id = p_user_id);
end;
$$;
comment on function private.may_use_agent(uuid, uuid) is
  'True when the user is in the agent''s audience. Tasks without an owner (null) may use every agent.';

create table public.agent_fallbacks (
  agent_id uuid not null references public.agents (id) on delete cascade,
  priority int not null default 100,
  provider_id uuid not null references public.llm_providers (id) on delete cascade,
  model text,
  primary key (agent_id, priority)
);
revoke all on public.agent_fallbacks from anon, authenticated, service_role;
create index agent_fallbacks_provider_id_idx on public.agent_fallbacks (provider_id);
comment on table public.agent_fallbacks is
  'Models that an agent uses when its provider is overloaded, out of quota or down, or does not serve the agent''s model. Written by the service role.';
comment on column public.agent_fallbacks.priority is 'Lower values first.';
comment on column public.agent_fallbacks.model is 'Null: the provider''s default model.';

alter table public.agent_fallbacks enable row level security;
create policy "users read the fallbacks of agents that they may use" on public.agent_fallbacks
  for select to authenticated using (
    exists (select from public.agents as agent where agent.id = agent_id)
  );
comment on policy "users read the fallbacks of agents that they may use" on public.agent_fallbacks is
  'Users read which models may answer a task, for the agents that they may use.';
grant select on public.agent_fallbacks to authenticated;
grant select, insert, update, delete on public.agent_fallbacks to service_role;

create table public.agent_handoffs (
  agent_id uuid not null references public.agents (id) on delete cascade,
  target_agent_id uuid not null references public.agents (id) on delete cascade,
  primary key (agent_id, target_agent_id)
);
revoke all on public.agent_handoffs from anon, authenticated, service_role;
create index agent_handoffs_target_agent_id_idx on public.agent_handoffs (target_agent_id);
comment on table public.agent_handoffs is
  'Restricts handoffs: an agent with rows may hand off only to these agents, an agent without rows to any active agent. agents.may_hand_off forbids all of them.';

alter table public.agent_handoffs enable row level security;
create policy "users read handoffs between agents that they may use" on public.agent_handoffs
  for select to authenticated using (
    exists (select from public.agents as giving where giving.id = agent_id)
    and exists (select from public.agents as taking where taking.id = target_agent_id)
  );
comment on policy "users read handoffs between agents that they may use" on public.agent_handoffs is
  'Users read which handoffs a job may make, between the agents that they may use.';
grant select on public.agent_handoffs to authenticated;
grant select, insert, update, delete on public.agent_handoffs to service_role;
