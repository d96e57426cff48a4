-- The ledger: one row for each call through the gateway, and the reasons of failures.

create table public.mcp_executions (
  id uuid primary key default gen_random_uuid(),
  mcp_name text not null,
  tool_name text not null,
  tool_version text,
  -- Only the user is a foreign key: each call would lock each row that it references, and a deleted tool or task
  -- would write a new version of each of its calls.
  tool_id uuid,
  connection_id uuid,
  agent_id uuid,
  user_id uuid references auth.users (id) on delete cascade,
  session_id uuid,
  task_id uuid,
  step_seq int,
  attempt int not null default 1 check (attempt > 0),
  request_data jsonb,
  learned_sets jsonb,
  response_data jsonb,
  llm_provider text,
  llm_model text,
  execution_time_ms int not null check (execution_time_ms >= 0),
  status text not null check (status in ('success', 'error', 'timeout')),
  error_message text,
  feedback_token uuid not null unique default gen_random_uuid(),
  is_try boolean not null default false,
  created_at timestamptz not null default now(),
  constraint mcp_executions_error_has_message check ((status = 'success') = (error_message is null))
);
revoke all on public.mcp_executions from anon, authenticated, service_role;
create index mcp_executions_user_id_idx on public.mcp_executions (user_id, created_at);
-- Without the step, the entries of a task share its id.
create index mcp_executions_task_id_idx on public.mcp_executions (task_id);
create index mcp_executions_streak_idx on public.mcp_executions (tool_id, tool_name, created_at) where task_id is null;
comment on table public.mcp_executions is
  'Every tool call, for tools of every type, with secrets redacted. Written only by the gateway.';
comment on column public.mcp_executions.mcp_name is 'Slug of the called server (tools.slug); for an unknown server, the name that the caller used.';
comment on column public.mcp_executions.user_id is 'The user on whose behalf the call ran; null: the service.';
comment on column public.mcp_executions.task_id is 'Kept after retention deletes the task, as are the ids of tools, connections, agents and sessions that were deleted.';
comment on column public.mcp_executions.step_seq is 'The call''s step in the transcript of its task.';
comment on column public.mcp_executions.request_data is 'The arguments, at most 32 KB.';
comment on column public.mcp_executions.learned_sets is
  'The result of private.learned_sets() when request_data does not have the complete arguments. A bad grade uses it to find the examples to delete.';
comment on column public.mcp_executions.response_data is 'The result that the model received, at most 32 KB. For a result of more than 300 characters in a task {stored_in: "task_steps", characters}: the step (task_id, step_seq) has it.';
comment on column public.mcp_executions.llm_provider is 'The provider of the model that the tool called, if any.';
comment on column public.mcp_executions.is_try is
  'True for a call of a draft that was not saved: mcp_name is the name in the draft, and tool_id and connection_id are null.';
comment on column public.mcp_executions.feedback_token is 'A random token whose holder may grade the call.';

alter table public.mcp_executions enable row level security;
create policy "users read their own tool calls" on public.mcp_executions
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their own tool calls" on public.mcp_executions is
  'Users read their own calls. The view tool_usage reads this table with the caller''s rights.';
grant select on public.mcp_executions to authenticated;
grant select, insert, update, delete on public.mcp_executions to service_role;

create function public.write_hash(p_call public.mcp_executions)
returns text
language sql
immutable
set search_path = ''
as $$
  select case when p_call.request_data ?| '{sql,data}' then md5(jsonb_build_array(
    p_call.mcp_name, p_call.tool_name, p_call.request_data -> 'sql', coalesce(nullif(p_call.request_data -> 'params', 'null'), '[]'),
    p_call.request_data -> 'table', p_call.request_data -> 'data'
  )::text) end;
$$;
comment on function public.write_hash(public.mcp_executions) is
  'Fingerprint of the statement or records of a call, the same for the plan of a write and its run; null for calls of other tools. The API reads it as a column of mcp_executions, and the console shows plan and run as one row.';
revoke all on function public.write_hash(public.mcp_executions) from public, anon, authenticated, service_role;
grant execute on function public.write_hash(public.mcp_executions) to authenticated, service_role;

create table public.mcp_failures (
  id uuid primary key default gen_random_uuid(),
  execution_id uuid not null references public.mcp_executions (id) on delete cascade,
  error_type text not null check (error_type in (
    'validation_error', 'tool_error', 'transport_error', 'timeout', 'auth_error',
    'rate_limited', 'config_error', 'outcome_unknown', 'sql_error', 'llm_timeout', 'cancelled'
  )),
  error_code text,
  error_details jsonb,
  retry_attempt int not null default 1 check (retry_attempt > 0),
  created_at timestamptz not null default now()
);
revoke all on public.mcp_failures from anon, authenticated, service_role;
create index mcp_failures_execution_id_idx on public.mcp_failures (execution_id);
comment on table public.mcp_failures is 'Why a tool call failed, by kind. Suggestions for improvement are made from these rows.';
comment on column public.mcp_failures.error_code is 'A stable error code of the product, or an error code of the tool.';
comment on column public.mcp_failures.retry_attempt is 'The call''s position among consecutive calls of this tool.';

alter table public.mcp_failures enable row level security;
create policy "users read the failures of their own tool calls" on public.mcp_failures
  for select to authenticated using (
    execution_id in (
      select execution.id from public.mcp_executions execution
      where execution.user_id = (select auth.uid())
    )
  );
comment on policy "users read the failures of their own tool calls" on public.mcp_failures is
  'Users read the failures of their own calls.';
grant select on public.mcp_failures to authenticated;
grant select, insert, update, delete on public.mcp_failures to service_role;
