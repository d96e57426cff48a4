-- A task, its transcript and its trace. State changes only through functions in private.

-- PostgreSQL parses a table's CHECKs again in every statement that writes to the table. Therefore a list of
-- labels is one literal, which parses faster than "in (…)", non-negative counts share a CHECK, and a trigger
-- checks columns that do not change after creation, because it runs only when one of them is written. The
-- state columns, which most statements change, have CHECKs.

create table public.tasks (
  id uuid primary key default private.new_id(),
  master_task_id uuid not null references public.tasks (id) on delete cascade,
  parent_id uuid references public.tasks (id) on delete cascade,
  parent_step_seq int,

  agent_id uuid references public.agents (id),
  agent_slug text,
  agent_revision int,
  agent_changes jsonb,
  runner text not null default '',

  status text not null default 'pending' check (status = any (
    '{pending,running,pending_subtask,needs_human_review,completed,failed,cancelled}'
  )),

  input jsonb not null,
  output jsonb,
  error jsonb,
  warnings jsonb not null default '[]',
  logs text[] not null default '{}',
  intermediate_data jsonb not null default '{}',
  storage_paths text[] not null default '{}',
  is_kept boolean not null default false,
  metadata jsonb not null default '{}',

  created_by uuid references auth.users (id) on delete cascade,
  owner_key uuid not null
    generated always as (coalesce(created_by, '00000000-0000-0000-0000-000000000000'::uuid)) stored,
  idempotency_key text,
  priority text not null default 'normal' check (priority = any ('{high,normal,low}')),
  concurrency_key text,
  run_after timestamptz,
  budget jsonb,
  output_schema jsonb,
  traceparent text,
  tracestate text,

  depth int not null default 0,
  pending_children int not null default 0,

  epoch bigint not null default 0,
  attempts int not null default 0,
  max_attempts int,
  failing_since timestamptz,
  deliveries int not null default 0,
  max_deliveries int not null default 8,
  yields int not null default 0,
  runs_exclusively boolean not null default false,
  rate_limit_waits int not null default 0,
  lease_expires_at timestamptz,
  worker_id text,
  cancel_requested_at timestamptz,
  cancel_reason text,

  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  cost_micro_usd bigint,
  summed_usage_id bigint not null default 0,

  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,

  constraint tasks_master_is_root check ((parent_id is null) = (master_task_id = id)),
  constraint tasks_step_of_parent check (parent_id is not null or parent_step_seq is null),
  constraint tasks_terminal_is_finished
    check ((finished_at is not null) = (status = any ('{completed,failed,cancelled}'))),
  constraint tasks_running_has_lease
    check ((status = 'running') = (lease_expires_at is not null and worker_id is not null)),
  -- While a parent is being cancelled, its children end before it does.
  constraint tasks_parked_waits_for_children
    check (status <> 'pending_subtask' or pending_children > 0 or cancel_requested_at is not null),
  constraint tasks_failed_has_error check (status <> 'failed' or error is not null),
  constraint tasks_counts_not_negative
    check (least(depth, pending_children, deliveries, max_deliveries - 1, yields) >= 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
revoke all on public.tasks from anon, authenticated, service_role;

create index idx_tasks_master_task_id on public.tasks (master_task_id);
create index idx_tasks_status on public.tasks (status);
create index tasks_agent_id_idx on public.tasks (agent_id);
create index tasks_created_by_idx on public.tasks (created_by);
-- Job lists, newest first, of one owner and of all owners. The included columns let an index-only scan
-- filter and count by status and agent.
create index tasks_jobs_of_owner_idx on public.tasks (created_by, created_at, id)
  include (status, agent_slug) where parent_id is null;
create index tasks_jobs_idx on public.tasks (created_at, id)
  include (created_by, status, agent_slug) where parent_id is null;
create index tasks_in_review_idx on public.tasks (created_by, master_task_id) where status = 'needs_human_review';
-- The lines: the due tasks of each owner, and of each key of an owner, by priority and then by age. The service
-- counts as an owner, and each runner has lines of its own.
create index tasks_line_idx on public.tasks (
  runner, owner_key, array_position(array['high', 'normal', 'low'], priority), id
) where status = 'pending' and run_after is null;
create index tasks_key_line_idx on public.tasks (
  runner, owner_key, coalesce(md5(concurrency_key), ''),
  array_position(array['high', 'normal', 'low'], priority), id
) where status = 'pending' and run_after is null;
create index tasks_delayed_idx on public.tasks (run_after) where status = 'pending' and run_after is not null;
-- Claims count the running tasks of one owner at a time. Expired leases are found here too: in an index of their own,
-- each renewal of a lease would write the task into all indexes.
create index tasks_running_idx on public.tasks (owner_key) where status = 'running';
create unique index tasks_master_idempotency_key on public.tasks (created_by, idempotency_key)
  nulls not distinct where parent_id is null and idempotency_key is not null;
create unique index tasks_child_of_step on public.tasks (parent_id, parent_step_seq)
  where parent_id is not null;

comment on table public.tasks is
  'A task of a job: the master task and, under it, its subtasks. created_by owns the whole job. Status changes only through functions.';
comment on column public.tasks.parent_step_seq is 'The parent''s create_subtask step that created this task and receives its result. Null for a subtask that the agent created through a tool: its result is not reported.';
comment on column public.tasks.warnings is 'Why the result may be incomplete, [{server, tool, code, message, step_seq}]: tools that failed and have not succeeded since, 20 at most, and without server and tool an answer that was cut at the output limit (MODEL_OUTPUT_CUT) or of which parts could not be read (MODEL_OUTPUT_INVALID). tool and step_seq are missing when the whole server was unavailable.';
comment on column public.tasks.agent_revision is 'The revision of the agent with which the task runs until it ends: the one that was current when its job was created, retried or continued. Null: the agent as it is.';
comment on column public.tasks.agent_changes is 'What the agent has in this task in place of its revision''s {provider, model, fallbacks, prompt}, with which it runs until the job is deleted; subtasks of the same agent inherit it. Null: nothing.';
comment on column public.tasks.runner is 'Who may claim the task: agents.runner when it was created; empty for the workers of the platform.';
comment on column public.tasks.logs is 'One short line for each change of state.';
comment on column public.tasks.is_kept is 'On master tasks: retention does not delete the job. Set with retain_job().';
comment on column public.tasks.created_by is 'The owner; null for tasks of the service. A subtask has the owner of its master task.';
comment on column public.tasks.owner_key is 'created_by as a key that is never null. The nil UUID, which sorts first, stands for the service.';
comment on column public.tasks.idempotency_key is 'Set on master tasks: a second request of the same owner with the same key returns the existing task.';
comment on column public.tasks.run_after is 'The task is not claimed before this time.';
comment on column public.tasks.budget is 'Caps of the job, set on the master task. A key with a null value removes the default cap.';
comment on column public.tasks.output_schema is 'JSON Schema of this task''s output. Null: the agent''s schema applies.';
comment on column public.tasks.traceparent is 'W3C Trace Context: the span that requested the task, which is the parent of its runs.';
comment on column public.tasks.tracestate is 'W3C Trace Context: data of other systems in the trace, as received with the job''s request.';
comment on column public.tasks.pending_children is 'Number of subtasks that have not ended.';
comment on column public.tasks.epoch is 'Fencing token: the microsecond of the claim, or one more than before. A write with an older epoch is refused.';
comment on column public.tasks.attempts is 'Errors of the current step, counted against max_attempts. Reset to 0 when the next step begins.';
comment on column public.tasks.max_attempts is 'Errors of one step after which the task fails with a dead letter. Null: five, and at least ten minutes of retries while the model''s provider is down.';
comment on column public.tasks.failing_since is 'When the current step first failed; null when it has not failed.';
comment on column public.tasks.deliveries is 'Claims since the last checkpoint, without those that a worker returned. More than one means that workers died before a step ended.';
comment on column public.tasks.yields is 'How often workers returned the task since its last checkpoint, because their isolate was full or retired. From the third time on it runs alone in a worker, then with growing pauses.';
comment on column public.tasks.runs_exclusively is 'True after a model call was cut off twice because its worker ended. The next worker that runs the task runs nothing else until a step ends.';
comment on column public.tasks.rate_limit_waits is 'How often the current step waited for a provider''s rate limit. The first 100 waits do not count as attempts.';
comment on column public.tasks.cancel_reason is 'Why an operator cancelled the job; null when nobody or its owner did.';
comment on column public.tasks.input_tokens is 'As output_tokens and cost_micro_usd: of the model calls up to summed_usage_id. They are added when the task stops running; job_usage has the sums of its job at any time.';
comment on column public.tasks.cost_micro_usd is 'Millionths of a US dollar; null when no model with a price was called.';
comment on column public.tasks.summed_usage_id is 'The last row of usage_events that the sums contain. While the task does not run, they contain all of them.';

create function private.check_task_values()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  v_column constant text := case
    when jsonb_typeof(new.intermediate_data) <> 'object' then 'intermediate_data'
    when jsonb_typeof(new.metadata) <> 'object' then 'metadata'
    when jsonb_typeof(new.budget) <> 'object' then 'budget'
    when jsonb_typeof(new.output_schema) <> 'object' then 'output_schema'
    when length(new.idempotency_key) not between 1 and 255 then 'idempotency_key'
    when length(new.concurrency_key) not between 1 and 255 then 'concurrency_key'
    when length(new.tracestate) > 512 then 'tracestate'
    when new.max_attempts not between 1 and 1000 then 'max_attempts'
  end;
begin
  if v_column is null then
    perform private.assert_no_problem(
      private.schema_document_problem('output_schema', new.output_schema), 'OUTPUT_SCHEMA_INVALID', 'create the task');
    return new;
  end if;
  raise check_violation using
    message = format('Cannot write the task %s: its %s is not %s', new.id, v_column, case
      when v_column in ('idempotency_key', 'concurrency_key') then 'of 1 to 255 characters'
      when v_column = 'tracestate' then 'of at most 512 characters'
      when v_column = 'max_attempts' then 'from 1 to 1000'
      else 'a JSON object'
    end),
    hint = 'Correct the value and write the task again.',
    schema = 'public', table = 'tasks', column = v_column, constraint = format('tasks_%s_check', v_column);
end;
$$;
comment on function private.check_task_values() is
  'Row trigger: checks the columns that few statements write. Raises check_violation with the column, OUTPUT_SCHEMA_INVALID.';
create trigger tasks_check_values
  before insert or update of
    intermediate_data, metadata, budget, output_schema, idempotency_key, concurrency_key, tracestate, max_attempts
  on public.tasks
  for each row execute function private.check_task_values();

create trigger tasks_touch_updated_at before update on public.tasks
  for each row execute function private.touch_updated_at();

alter table public.tasks enable row level security;
create policy "owners read their tasks" on public.tasks
  for select to authenticated using (
    created_by = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "owners read their tasks" on public.tasks is
  'Clients read tasks directly and through postgres_changes. They cannot write: only functions change a status.';
grant select on public.tasks to authenticated, service_role;

create table public.task_steps (
  task_id uuid not null references public.tasks (id) on delete cascade,
  seq int not null,
  kind text not null check (kind = any ('{model,tool,system,user,guardrail,step}')),
  state text not null check (state = any ('{started,done,failed}')),
  name text,
  call_id text,
  input jsonb,
  output jsonb,
  usage jsonb,
  epoch bigint not null,
  interruptions int not null default 0,
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  primary key (task_id, seq),
  constraint task_steps_ended_has_output
    check ((state = 'started') = (ended_at is null) and (ended_at is null or output is not null)),
  constraint task_steps_counts_not_negative check (least(seq - 1, interruptions) >= 0)
) partition by range (task_id);
revoke all on public.task_steps from anon, authenticated, service_role;
create table private.task_steps_other partition of public.task_steps default;
comment on table private.task_steps_other is
  'Default partition of public.task_steps: rows of tasks whose partition did not exist yet.';
alter table private.task_steps_other enable row level security;
comment on table public.task_steps is
  'The transcript of a task, which is also its checkpoint: one row per model call or tool call. A step that has ended never runs again.';
comment on column public.task_steps.kind is 'model: a model call. tool: a call through the gateway. system: a call of one of the five system tools. user: a message that continued the task, stored in input. guardrail: a check of the input or the output through the gateway. step: a step of a workflow''s code, or a sleep or signal that it waits for.';
comment on column public.task_steps.input is 'The arguments of a call. For a model call: what its prompt omitted from the transcript (left_out), or the last step that it summarizes (summarizes_through); after an answer that was cut, the step whose text it continues (continues) or its larger output limit (max_tokens); and retried, when the task ended after the answer and was retried. Null when none of them applies.';
comment on column public.task_steps.output is 'The result of the step. While state is started, for a model call that was cut: {text, is_partial: true} with the part of the answer that had arrived; the repeated call replaces it.';
comment on column public.task_steps.state is 'started: running. done: ended. failed: ended with an error, which the model reads as the result.';
comment on column public.task_steps.usage is 'Tokens of a model call as the provider counted them. usage_events has the provider, the cost, and whose key paid.';
comment on column public.task_steps.interruptions is 'How often a worker ended during this model call. usage_events has an estimate for each interruption.';

alter table public.task_steps enable row level security;
create policy "owners read the steps of their tasks" on public.task_steps
  for select to authenticated using (exists (
    -- "offset 0" keeps this a lookup by key for each row. Without it, Postgres reads all tasks of the caller
    -- first: for an owner of 100,000 tasks, reading the steps of one job took 340 ms.
    select from public.tasks task where task.id = task_id and task.created_by = (select auth.uid()) offset 0
  ));
comment on policy "owners read the steps of their tasks" on public.task_steps is
  'Owners read the transcript and find in it the step to pass to fork_task().';
grant select on public.task_steps to authenticated, service_role;

create table private.hidden_step_outputs (
  -- References the task and not the step, because a referenced partition cannot be dropped.
  task_id uuid not null references public.tasks (id) on delete cascade,
  seq int not null,
  output jsonb not null,
  primary key (task_id, seq)
);
comment on table private.hidden_step_outputs is
  'Full results of steps whose owner may read only a part of them, such as the text of a skill. Only workers read this table.';
alter table private.hidden_step_outputs enable row level security;

create table private.task_events (
  id bigint generated always as identity,
  task_id uuid not null references public.tasks (id) on delete cascade,
  -- No foreign key: the reference of task_id already deletes the event with its job.
  master_task_id uuid not null,
  type text check (type = any ('{
    task.created,task.started,task.parked,task.resumed,task.retried,
    task.completed,task.failed,task.cancelled,
    model.started,model.interrupted,model.completed,
    tool.started,tool.completed,tool.failed,
    subtask.created,subtask.finished,
    review.requested,review.answered,review.reopened,
    skill.loaded,data.saved,
    step.completed,step.failed,signal.received
  }')),
  payload jsonb not null default '{}' check (jsonb_typeof(payload) = 'object'),
  at timestamptz not null default clock_timestamp(),
  primary key (task_id, id)
) partition by range (task_id);
revoke all on private.task_events from anon, authenticated, service_role;
revoke all on sequence private.task_events_id_seq from anon, authenticated, service_role;
-- Only for subtasks: the primary key has the master task's own events. A reader of a job asks for both; see the view
-- task_events.
create index task_events_subtasks_idx on private.task_events (master_task_id, id) where task_id <> master_task_id;
-- For retention. A BRIN index covers many pages with one entry. The first range of a table is summarized from the
-- start, so each row in it writes WAL: a short range ends that soon.
create index task_events_at_idx on private.task_events using brin (at) with (pages_per_range = 8);
create table private.task_events_other partition of private.task_events default;
comment on table private.task_events_other is
  'Default partition of private.task_events: rows of tasks whose partition did not exist yet.';
alter table private.task_events_other enable row level security;
select private.make_partitions();
comment on table private.task_events is 'Append-only trace, as it is stored. Users read it as the view public.task_events.';
comment on column private.task_events.id is 'The events of the row have the ids from 64 times this id on; see events_of().';
comment on column private.task_events.type is 'Null for what a checkpoint does with model calls and tool calls: payload then has the numbers of the steps by the type of their events, such as {"model.completed": [3], "tool.started": [4, 5]}, and the steps have all else.';

alter table private.task_events enable row level security;
create policy "owners read the events of their tasks" on private.task_events
  for select to authenticated using (exists (
    -- "offset 0" as for task_steps.
    select from public.tasks task where task.id = task_id and task.created_by = (select auth.uid()) offset 0
  ));
comment on policy "owners read the events of their tasks" on private.task_events is
  'Clients that join late read the events that were broadcast before.';
grant select on private.task_events to authenticated, service_role;

create table public.human_reviews (
  id uuid primary key default private.new_id(),
  task_id uuid not null references public.tasks (id) on delete cascade,
  seq int not null,
  kind text not null default 'question' check (kind in ('question', 'call', 'rerun', 'provider_tools')),
  question text not null,
  options jsonb,
  context jsonb,
  response jsonb not null default '{}',
  approved_arguments jsonb,
  approved boolean,
  comments text,
  created_by uuid references auth.users (id) on delete set null,
  answered_as text check (answered_as in ('user', 'client', 'service')),
  answered_through text check (answered_through in ('rest', 'tool', 'database')),
  client_id text,
  created_at timestamptz not null default now(),
  answered_at timestamptz,
  answered_epoch bigint,
  reopened_at timestamptz,
  reopened_by uuid references auth.users (id) on delete set null,
  unique (task_id, seq),
  constraint human_reviews_calls_have_approved_arguments
    check ((approved_arguments is not null) = (kind in ('call', 'rerun') and approved is true))
);
revoke all on public.human_reviews from anon, authenticated, service_role;
create index human_reviews_open_idx on public.human_reviews (task_id) where answered_at is null;
create index human_reviews_created_by_idx on public.human_reviews (created_by);
create index human_reviews_reopened_by_idx on public.human_reviews (reopened_by) where reopened_by is not null;
comment on table public.human_reviews is
  'Questions to a person. A review is open while answered_at is null; an agent has one open review at most, a workflow may have several; only respond_to_review() answers it, and reopen_review() takes the answer back.';
comment on column public.human_reviews.seq is 'The step that asked the question.';
comment on column public.human_reviews.kind is
  'question: an agent asks. call: a tool call needs an approval. rerun: the outcome of a tool call is unknown, and making it again needs an approval. provider_tools: the use of tools that the model''s provider runs needs an approval, which holds for the rest of the task.';
comment on column public.human_reviews.options is 'A list of answers. Approving then requires one of them as response.choice.';
comment on column public.human_reviews.context is
  'What the person needs to decide. For a call: {reasons, server, tool, destination, arguments, input_schema, scopes, shown}.';
comment on column public.human_reviews.approved_arguments is
  'The arguments with which an approved call runs: those that were asked for, or those that the person sent as response.arguments.';
comment on column public.human_reviews.approved is 'Null while the review is open. Null on a closed review: the task ended before anyone answered.';
comment on column public.human_reviews.created_by is 'The user who answered; null for the service.';
comment on column public.human_reviews.answered_as is 'user: the user''s own session. client: an OAuth client, named in client_id. service: a secret key, including on behalf of the user in created_by. Null while open, and when the task ended first.';
comment on column public.human_reviews.answered_through is 'rest: an RPC over the REST API. tool: the tool answer_review of the server swarm, over MCP or mcp-execute. database: a direct database session.';
comment on column public.human_reviews.client_id is 'The OAuth client whose token answered.';
comment on column public.human_reviews.answered_epoch is 'tasks.epoch when the review was answered; null if a worker had the task. While the task is pending with this epoch, its agent has not read the answer, and reopen_review() takes it back.';
comment on column public.human_reviews.reopened_at is 'When an answer was last taken back; null if none was. The events of the task have the answer.';
comment on column public.human_reviews.reopened_by is 'The user who took it back; null for the service.';

alter table public.human_reviews enable row level security;
create policy "owners read the reviews of their tasks" on public.human_reviews
  for select to authenticated using (exists (
    -- "offset 0" as for task_steps.
    select from public.tasks task where task.id = task_id and task.created_by = (select auth.uid()) offset 0
  ));
comment on policy "owners read the reviews of their tasks" on public.human_reviews is
  'Owners read the questions of their tasks and answer them with respond_to_review().';
grant select on public.human_reviews to authenticated, service_role;

create table public.usage_events (
  id bigint generated always as identity primary key,
  user_id uuid references auth.users (id) on delete set null,
  -- No foreign key: a deleted task would write a new version of each of its rows.
  task_id uuid,
  step_seq int,
  agent_slug text,
  agent_revision int,
  execution_id uuid,
  mcp_name text,
  tool_name text,
  tool_version text,
  provider_id uuid references public.llm_providers (id) on delete set null,
  model text not null,
  key_source text not null check (key_source = any ('{user,organisation,none}')),
  input_tokens bigint not null,
  cached_input_tokens bigint not null default 0,
  cache_write_input_tokens bigint not null default 0,
  output_tokens bigint not null,
  web_search_calls int not null default 0,
  code_execution_calls int not null default 0,
  cost_micro_usd bigint,
  is_estimate boolean not null default false,
  created_at timestamptz not null default now(),
  constraint usage_events_counts_not_negative check (least(
    input_tokens, cached_input_tokens, cache_write_input_tokens, output_tokens, web_search_calls, code_execution_calls
  ) >= 0)
);
revoke all on public.usage_events from anon, authenticated, service_role;
revoke all on sequence public.usage_events_id_seq from anon, authenticated, service_role;
create index usage_events_user_id_idx on public.usage_events (user_id, created_at);
create index usage_events_task_id_idx on public.usage_events (task_id, step_seq);
create index usage_events_provider_id_idx on public.usage_events (provider_id);
-- For alerts; BRIN for the reason given at task_events_at_idx.
create index usage_events_created_at_idx on public.usage_events using brin (created_at) with (pages_per_range = 8);
comment on table public.usage_events is 'One row per model call, made by a task or by a tool.';
comment on column public.usage_events.task_id is 'Kept after retention deletes the task.';
comment on column public.usage_events.step_seq is 'The step in the task''s transcript: the model call, or the tool call that called the model.';
comment on column public.usage_events.execution_id is 'The tool call that called the model; null for the agent''s own calls. Kept after retention deletes the tool call.';
comment on column public.usage_events.mcp_name is 'Slug of the tool server that called the model; null for the agent''s own calls. Kept after retention deletes the tool call, like tool_name and tool_version.';
comment on column public.usage_events.agent_revision is 'The revision with which the agent made the call.';
comment on column public.usage_events.agent_slug is 'The agent that made the call. Kept after the task is deleted.';
comment on column public.usage_events.key_source is 'user: the user''s own API key paid. organisation: the organization''s key paid. none: the provider needs no key.';
comment on column public.usage_events.cached_input_tokens is 'The part of input_tokens that the provider read from its cache.';
comment on column public.usage_events.web_search_calls is 'Web searches that the provider ran during the call.';
comment on column public.usage_events.code_execution_calls is 'Programs that the provider ran during the call.';
comment on column public.usage_events.cache_write_input_tokens is 'The part of input_tokens that the provider wrote to its cache, for providers that charge for it.';
comment on column public.usage_events.is_estimate is 'True when the answer of the call was lost. Its tokens are estimated from the length of the request, and from the duration of the call or the part of the answer that had arrived.';
comment on column public.usage_events.cost_micro_usd is 'Millionths of a US dollar; null when the model has no price.';

alter table public.usage_events enable row level security;
create policy "users read their usage" on public.usage_events
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their usage" on public.usage_events is
  'Users read what their model calls cost. The view agent_usage reads this table with the caller''s rights.';
grant select on public.usage_events to authenticated, service_role;

create table public.usage_days (
  day date not null,
  user_id uuid references auth.users (id) on delete set null,
  agent_slug text,
  provider_id uuid references public.llm_providers (id) on delete set null,
  model text not null,
  key_source text not null check (key_source = any ('{user,organisation,none}')),
  mcp_name text,
  tool_name text,
  call_count bigint not null,
  task_count bigint not null,
  input_tokens bigint not null,
  cached_input_tokens bigint not null,
  output_tokens bigint not null,
  cost_micro_usd bigint,
  unpriced_call_count bigint not null
);
revoke all on public.usage_days from anon, authenticated, service_role;
create index usage_days_day_idx on public.usage_days (day);
create index usage_days_user_id_idx on public.usage_days (user_id, day);
create index usage_days_provider_id_idx on public.usage_days (provider_id);
comment on table public.usage_days is
  'Model calls by UTC day, after retention has deleted their rows of usage_events. Never deleted, so that billing data stays complete.';
comment on column public.usage_days.day is 'UTC.';
comment on column public.usage_days.mcp_name is 'As in usage_events: the tool that called the model; null for the agents'' own calls.';
comment on column public.usage_days.unpriced_call_count is 'Calls of models without a price, which cost_micro_usd omits.';

alter table public.usage_days enable row level security;
create policy "users read their earlier usage" on public.usage_days
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('swarm:run'))
  );
comment on policy "users read their earlier usage" on public.usage_days is
  'As for usage_events.';
grant select on public.usage_days to authenticated, service_role;
