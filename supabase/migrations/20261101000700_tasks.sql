-- A task, its transcript and its trace. State changes only through functions in private.

create table public.tasks (
  id uuid primary key default private.new_id(),
  master_task_id uuid not null references public.tasks (id) on delete cascade,
  parent_id uuid references public.tasks (id) on delete cascade,
  parent_step_seq int,

  agent_id uuid references public.agents (id),
  agent_slug text,

  status text not null default 'pending' check (status in (
    'pending', 'running', 'pending_subtask', 'needs_human_review',
    'completed', 'failed', 'cancelled'
  )),

  input jsonb not null,
  output jsonb,
  error jsonb,
  logs text[] not null default '{}',
  intermediate_data jsonb not null default '{}' check (jsonb_typeof(intermediate_data) = 'object'),
  storage_paths text[] not null default '{}',
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),

  created_by uuid references auth.users (id) on delete cascade,
  owner_key uuid not null
    generated always as (coalesce(created_by, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
  idempotency_key text check (length(idempotency_key) between 1 and 255),
  priority text not null default 'normal' check (priority in ('high', 'normal', 'low')),
  concurrency_key text check (length(concurrency_key) between 1 and 255),
  run_after timestamptz,
  budget jsonb check (jsonb_typeof(budget) = 'object'),
  output_schema jsonb check (jsonb_typeof(output_schema) = 'object'),
  traceparent text,
  tracestate text check (length(tracestate) <= 512),

  depth int not null default 0 check (depth >= 0),
  pending_children int not null default 0 check (pending_children >= 0),

  epoch bigint not null default 0,
  attempts int not null default 0,
  max_attempts int check (max_attempts between 1 and 1000),
  failing_since timestamptz,
  deliveries int not null default 0 check (deliveries >= 0),
  max_deliveries int not null default 8 check (max_deliveries > 0),
  ahead_epoch bigint,
  works_alone boolean not null default false,
  rate_limit_waits int not null default 0,
  lease_expires_at timestamptz,
  worker_id text,
  message_id bigint,
  cancel_requested_at timestamptz,

  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micro_usd bigint,

  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,

  constraint tasks_master_is_root check ((parent_id is null) = (master_task_id = id)),
  constraint tasks_step_of_parent check (parent_id is not null or parent_step_seq is null),
  constraint tasks_terminal_is_finished
    check ((finished_at is not null) = (status in ('completed', 'failed', 'cancelled'))),
  constraint tasks_running_has_lease
    check ((status = 'running') = (lease_expires_at is not null and worker_id is not null)),
  constraint tasks_message_while_queued check (status = 'pending' or message_id is null),
  -- A parent that is being cancelled outlasts its children for a moment.
  constraint tasks_parked_waits_for_children
    check (status <> 'pending_subtask' or pending_children > 0 or cancel_requested_at is not null),
  constraint tasks_failed_has_error check (status <> 'failed' or error is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);

create index idx_tasks_master_task_id on public.tasks (master_task_id);
create index idx_tasks_status on public.tasks (status);
create index tasks_agent_id_idx on public.tasks (agent_id);
create index tasks_created_by_idx on public.tasks (created_by);
-- Lists of jobs, newest first: an owner's and everybody's. Status and agent are counted and filtered
-- in the index.
create index tasks_jobs_of_owner_idx on public.tasks (created_by, created_at desc, id desc)
  include (status, agent_slug) where parent_id is null;
create index tasks_jobs_idx on public.tasks (created_at desc, id desc)
  include (created_by, status, agent_slug) where parent_id is null;
create index tasks_in_review_idx on public.tasks (created_by, master_task_id) where status = 'needs_human_review';
create index tasks_lease_expires_at_idx on public.tasks (lease_expires_at) where status = 'running';
create index tasks_pending_without_message_idx on public.tasks (run_after)
  where status = 'pending' and message_id is null;
create index tasks_works_alone_idx on public.tasks (message_id) where works_alone and status = 'pending';
create unique index tasks_master_idempotency_key on public.tasks (created_by, idempotency_key)
  nulls not distinct where parent_id is null and idempotency_key is not null;
create unique index tasks_child_of_step on public.tasks (parent_id, parent_step_seq)
  where parent_id is not null;

comment on table public.tasks is
  'A task of a job: the master task and, under it, its subtasks. created_by owns the whole job. Status changes only through functions.';
comment on column public.tasks.parent_step_seq is 'The parent''s create_subtask step that created this task and receives its result. Null for a subtask that the agent created through a tool: its result is not reported.';
comment on column public.tasks.logs is 'One short line for each change of state.';
comment on column public.tasks.created_by is 'Owner; null for tasks of the service itself. A subtask has its master''s.';
comment on column public.tasks.owner_key is 'created_by as a key that is never null: the nil uuid, which sorts first, means the service.';
comment on column public.tasks.idempotency_key is 'Of master tasks: the same key of the same owner names the same task.';
comment on column public.tasks.run_after is 'Not claimed before this time.';
comment on column public.tasks.budget is 'Caps of the job, on the master task; a key with null lifts the default cap.';
comment on column public.tasks.output_schema is 'JSON Schema that this task''s output fits; null: the agent''s.';
comment on column public.tasks.traceparent is 'W3C Trace Context: the span that asked for the task, the parent of its runs.';
comment on column public.tasks.tracestate is 'W3C Trace Context: what other systems of the trace carry along, as it came with the job''s request.';
comment on column public.tasks.pending_children is 'Subtasks that have not ended.';
comment on column public.tasks.epoch is 'Fencing token: each claim adds one, and a write that names an older one is refused.';
comment on column public.tasks.attempts is 'Errors of the step at hand, counted against max_attempts; the next step begins with none.';
comment on column public.tasks.max_attempts is 'Errors of one step after which the task is buried. Null: five, and while the model''s provider is down for as long as ten minutes have not passed.';
comment on column public.tasks.failing_since is 'When the step at hand first failed; null when it has not.';
comment on column public.tasks.deliveries is 'Claims since the last checkpoint: more than one means that workers died, or handed the task back before a step had ended.';
comment on column public.tasks.ahead_epoch is 'The epoch of the one claim that was not counted in deliveries, because the task was to wait in its worker for a free slot; null: there was none.';
comment on column public.tasks.works_alone is 'A model call of it was cut off with its worker: it is next run by a worker that does nothing else, until a step ends.';
comment on column public.tasks.rate_limit_waits is 'How often a provider asked this task to wait; not failures.';
comment on column public.tasks.message_id is 'The task''s message in the queue, set while pending: a claim replaces the message with a lease.';
comment on column public.tasks.cost_micro_usd is 'Millionths of a US dollar; null while no priced model was called.';

create trigger tasks_touch_updated_at before update on public.tasks
  for each row execute function private.touch_updated_at();

alter table public.tasks enable row level security;
create policy "owners read their tasks" on public.tasks
  for select to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners read their tasks" on public.tasks is
  'For clients and for postgres_changes. Clients do not write: only functions change statuses.';
grant select on public.tasks to authenticated;
grant select on public.tasks to service_role;

create table public.task_steps (
  task_id uuid not null references public.tasks (id) on delete cascade,
  seq int not null check (seq > 0),
  kind text not null check (kind in ('model', 'tool', 'system', 'user', 'guardrail')),
  state text not null check (state in ('started', 'done', 'failed')),
  name text,
  call_id text,
  input jsonb,
  output jsonb,
  usage jsonb,
  idempotency_key text not null,
  epoch bigint not null,
  interruptions int not null default 0 check (interruptions >= 0),
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (task_id, seq),
  constraint task_steps_ended_has_output
    check ((state = 'started') = (ended_at is null) and (state = 'started' or output is not null))
) partition by range (task_id);
create table private.task_steps_other partition of public.task_steps default;
comment on table private.task_steps_other is
  'Rows of public.task_steps for whose task no partition was made in time.';
alter table private.task_steps_other enable row level security;
comment on table public.task_steps is
  'The transcript of a task, which is also its checkpoint: one row a model call or tool call. An ended step never runs again.';
comment on column public.task_steps.kind is 'model: a model call. tool: a call through the gateway. system: one of the five system tools. user: a message that continued the task, in input. guardrail: a check of the input or the output through the gateway.';
comment on column public.task_steps.input is 'The arguments of a call. Of a model call what its prompt left out of the transcript (left_out), or up to which step it is a summary (summarizes_through); null: neither.';
comment on column public.task_steps.state is 'failed: ended, and its result is an error that the model reads.';
comment on column public.task_steps.usage is 'Tokens of a model call as the provider counted them.';
comment on column public.task_steps.interruptions is 'How often a worker ended while this model call was under way; each of them is in usage_events as an estimate.';
comment on column public.task_steps.idempotency_key is 'The same for every delivery of this step.';

alter table public.task_steps enable row level security;
create policy "owners read the steps of their tasks" on public.task_steps
  for select to authenticated using (exists (
    -- "offset 0" keeps this a look-up by key for each row. Postgres would else read all tasks of the
    -- reader first: 340 ms for the steps of one job, for an owner of 100,000 tasks.
    select from public.tasks task where task.id = task_id and task.created_by = (select auth.uid()) offset 0
  ));
comment on policy "owners read the steps of their tasks" on public.task_steps is
  'The transcript, for the task''s owner, who also chooses the step for fork_task() from it.';
grant select on public.task_steps to authenticated;
grant select on public.task_steps to service_role;

create table private.hidden_step_outputs (
  -- Not of the step: a partition that something refers to could not be dropped.
  task_id uuid not null references public.tasks (id) on delete cascade,
  seq int not null,
  output jsonb not null,
  primary key (task_id, seq)
);
comment on table private.hidden_step_outputs is
  'Whole results of steps whose owner may not read all of them: the text of a skill. Workers alone read them.';
alter table private.hidden_step_outputs enable row level security;

create table public.task_events (
  id bigint generated always as identity,
  task_id uuid not null references public.tasks (id) on delete cascade,
  -- No reference: it is the master of its task, and is gone with it.
  master_task_id uuid not null,
  type text not null check (type in (
    'task.created', 'task.started', 'task.parked', 'task.resumed', 'task.retried',
    'task.completed', 'task.failed', 'task.cancelled',
    'model.started', 'model.interrupted', 'model.completed',
    'tool.started', 'tool.completed', 'tool.failed',
    'subtask.created', 'subtask.finished',
    'review.requested', 'review.answered',
    'skill.loaded', 'data.saved'
  )),
  payload jsonb not null default '{}' check (jsonb_typeof(payload) = 'object'),
  at timestamptz not null default clock_timestamp(),
  primary key (task_id, id)
) partition by range (task_id);
create index task_events_master_task_id_idx on public.task_events (master_task_id, id);
-- For retention: one entry for many pages costs a write nothing.
create index task_events_at_idx on public.task_events using brin (at);
create table private.task_events_other partition of public.task_events default;
comment on table private.task_events_other is
  'Rows of public.task_events for whose task no partition was made in time.';
alter table private.task_events_other enable row level security;
select private.make_partitions();
comment on table public.task_events is 'Append-only trace; each row is broadcast to the task''s and its master''s channel.';

alter table public.task_events enable row level security;
create policy "owners read the events of their tasks" on public.task_events
  for select to authenticated using (exists (
    -- "offset 0" as for task_steps.
    select from public.tasks task where task.id = task_id and task.created_by = (select auth.uid()) offset 0
  ));
comment on policy "owners read the events of their tasks" on public.task_events is
  'For clients that join late: what the channels have broadcast before.';
grant select on public.task_events to authenticated;
grant select on public.task_events to service_role;

create table public.human_reviews (
  id uuid primary key default private.new_id(),
  task_id uuid not null references public.tasks (id) on delete cascade,
  seq int not null,
  question text not null,
  options jsonb,
  context jsonb,
  response jsonb not null default '{}',
  approved boolean,
  comments text,
  created_by uuid references auth.users (id) on delete set null,
  answered_as text check (answered_as in ('user', 'client', 'service')),
  answered_through text check (answered_through in ('rest', 'tool', 'database')),
  client_id text,
  created_at timestamptz not null default now(),
  answered_at timestamptz,
  unique (task_id, seq)
);
create unique index human_reviews_one_open on public.human_reviews (task_id) where answered_at is null;
create index human_reviews_created_by_idx on public.human_reviews (created_by);
comment on table public.human_reviews is
  'Questions to a person. Open while answered_at is null; answered only through respond_to_review().';
comment on column public.human_reviews.seq is 'The step that asked.';
comment on column public.human_reviews.approved is 'Null on an answered review: the task ended before an answer came.';
comment on column public.human_reviews.created_by is 'Who answered; null for the service.';
comment on column public.human_reviews.answered_as is 'user: in a session of their own. client: through an OAuth client, which client_id names. service: a secret key, also on behalf of the user in created_by. Null while open and when the task ended first.';
comment on column public.human_reviews.answered_through is 'rest: the function was called over the REST API. tool: the swarm server''s answer_review, over MCP or mcp-execute. database: a direct database session.';
comment on column public.human_reviews.client_id is 'OAuth client of the token that answered.';

alter table public.human_reviews enable row level security;
create policy "owners read the reviews of their tasks" on public.human_reviews
  for select to authenticated using (exists (
    -- "offset 0" as for task_steps.
    select from public.tasks task where task.id = task_id and task.created_by = (select auth.uid()) offset 0
  ));
comment on policy "owners read the reviews of their tasks" on public.human_reviews is
  'Open questions, answered by respond_to_review().';
grant select on public.human_reviews to authenticated;
grant select on public.human_reviews to service_role;

create table public.usage_events (
  id bigint generated always as identity primary key,
  user_id uuid references auth.users (id) on delete set null,
  task_id uuid references public.tasks (id) on delete set null,
  step_seq int,
  agent_slug text,
  execution_id uuid,
  mcp_name text,
  tool_name text,
  tool_version text,
  provider_id uuid references public.llm_providers (id) on delete set null,
  model text not null,
  key_source text not null check (key_source in ('user', 'organisation', 'none')),
  input_tokens bigint not null check (input_tokens >= 0),
  cached_input_tokens bigint not null default 0 check (cached_input_tokens >= 0),
  cache_write_input_tokens bigint not null default 0 check (cache_write_input_tokens >= 0),
  output_tokens bigint not null check (output_tokens >= 0),
  web_search_calls int not null default 0 check (web_search_calls >= 0),
  code_execution_calls int not null default 0 check (code_execution_calls >= 0),
  cost_micro_usd bigint,
  is_estimate boolean not null default false,
  created_at timestamptz not null default now()
);
create index usage_events_user_id_idx on public.usage_events (user_id, created_at desc);
create index usage_events_task_id_idx on public.usage_events (task_id, step_seq);
create index usage_events_provider_id_idx on public.usage_events (provider_id);
comment on table public.usage_events is 'One row for each model call, whether of a task or of a tool.';
comment on column public.usage_events.step_seq is 'Of the task''s transcript: the model call, or the tool call inside which a model was called.';
comment on column public.usage_events.execution_id is 'The tool call inside which the model was called; null for the agent''s own calls. Stays when the call is forgotten.';
comment on column public.usage_events.mcp_name is 'Slug of the tool server inside whose tool the model was called; null for the agent''s own calls. Stays when the call is forgotten, as do tool_name and tool_version.';
comment on column public.usage_events.agent_slug is 'Who called; stays when the task is deleted.';
comment on column public.usage_events.key_source is 'Whose key paid: the user''s own, the organisation''s, or none was needed.';
comment on column public.usage_events.cached_input_tokens is 'The part of input_tokens that the provider read from its cache.';
comment on column public.usage_events.web_search_calls is 'Searches that the provider made itself during the call.';
comment on column public.usage_events.code_execution_calls is 'Programs that the provider ran itself during the call.';
comment on column public.usage_events.cache_write_input_tokens is 'The part of input_tokens that the provider wrote to its cache, where it charges for that.';
comment on column public.usage_events.is_estimate is 'The call''s answer was lost, so its tokens are estimated: from the length of what it was sent, and from how long it ran or how much of it had come.';
comment on column public.usage_events.cost_micro_usd is 'Millionths of a US dollar; null when the model has no price.';

alter table public.usage_events enable row level security;
create policy "users read their usage" on public.usage_events
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their usage" on public.usage_events is
  'What models have cost a user; agent_usage reads it with the reader''s rights.';
grant select on public.usage_events to authenticated;
grant select on public.usage_events to service_role;
