-- Signals: what somebody outside of a job tells a workflow of it. A signal is stored before it is delivered, also
-- when nobody waits for it yet, and delivered once, in the order of arrival.

create table public.task_signals (
  -- Given out under the job's lock, so that it is the order of arrival.
  id bigint generated always as identity primary key,
  task_id uuid not null references public.tasks (id) on delete cascade,
  name text not null,
  data jsonb not null,
  key text,
  sent_by uuid references auth.users (id) on delete set null,
  sent_as text not null check (sent_as in ('user', 'client', 'service', 'url')),
  sent_at timestamptz not null default clock_timestamp(),
  step_seq int
);
revoke all on public.task_signals from anon, authenticated, service_role;
revoke all on sequence public.task_signals_id_seq from anon, authenticated, service_role;
create index task_signals_waiting_idx on public.task_signals (task_id, name, id) where step_seq is null;
create index task_signals_task_id_idx on public.task_signals (task_id);
create unique index task_signals_key_idx on public.task_signals (task_id, key) where key is not null;
create index task_signals_sent_by_idx on public.task_signals (sent_by) where sent_by is not null;
comment on table public.task_signals is
  'Signals to workflows, in the order of arrival. Written by signal_task().';
comment on column public.task_signals.key is 'A second signal of the task with the same key changes nothing.';
comment on column public.task_signals.sent_as is
  'user: the owner''s own session. client: an OAuth client. service: a secret key. url: the holder of a URL that the workflow made with flow.signalUrl().';
comment on column public.task_signals.step_seq is 'The step that took it; null: none has yet.';
alter table public.task_signals enable row level security;
create policy "owners read the signals of their tasks" on public.task_signals
  for select to authenticated using (exists (
    -- "offset 0" as for task_steps.
    select from public.tasks task where task.id = task_id and task.created_by = (select auth.uid()) offset 0
  ));
comment on policy "owners read the signals of their tasks" on public.task_signals is
  'Owners see which signals have arrived, and which step took each.';
grant select on public.task_signals to authenticated, service_role;

create function private.store_signal(p_task_id uuid, p_name text, p_data jsonb, p_key text, p_sent_as text)
returns table (id bigint, is_new boolean)
language plpgsql
set search_path = ''
as $$
#variable_conflict use_column
declare
  c_max_waiting constant int := 100;
  c_hint constant text := 'Send the job''s task id, a name of 1 to 200 characters, and JSON of at most 1 MiB.';
  v_task public.tasks;
  v_id bigint;
begin
  if coalesce(length(p_name), 0) not between 1 and 200 then
    perform private.raise_error('SIGNAL_INVALID', 'Cannot send the signal: its name does not have 1 to 200 characters', c_hint);
  end if;
  if length(p_key) not between 1 and 255 then
    perform private.raise_error('SIGNAL_INVALID', 'Cannot send the signal: its key does not have 1 to 255 characters', c_hint);
  end if;
  if not private.is_within_limits(coalesce(p_data, 'null')) then
    perform private.raise_error('SIGNAL_INVALID',
      'Cannot send the signal: its data is larger than 1 MiB, 64 levels or 70,000 values, or has a number that programs cannot read', c_hint);
  end if;
  -- A workflow that parks meanwhile would not see it.
  perform private.lock_job_of(p_task_id);
  v_task := private.any_task(p_task_id);
  select signal.id into v_id from public.task_signals as signal where signal.task_id = p_task_id and signal.key = p_key;
  if found then
    return query select v_id, false;
    return;
  end if;
  if v_task.runner = '' or v_task.finished_at is not null or v_task.cancel_requested_at is not null then
    perform private.raise_error('SIGNAL_NOT_ACCEPTED',
      format('Cannot send the signal "%s": task %s %s', p_name, p_task_id,
        case when v_task.runner = '' then 'is of an agent, and only workflows take signals' else 'has ended' end),
      'Send signals to a workflow''s task that has not ended.');
  end if;
  if (
    select count(*) from (
      select from public.task_signals as signal where signal.task_id = p_task_id and signal.step_seq is null limit c_max_waiting
    ) as waiting
  ) >= c_max_waiting then
    perform private.raise_error('SIGNAL_NOT_ACCEPTED',
      format('Cannot send the signal "%s": %s signals already wait for task %s', p_name, c_max_waiting, p_task_id),
      'Send it when the workflow has taken some of them.');
  end if;
  insert into public.task_signals (task_id, name, data, key, sent_by, sent_as)
  values (p_task_id, p_name, coalesce(p_data, 'null'), p_key, auth.uid(), p_sent_as)
  returning task_signals.id into v_id;
  perform private.debit_job(v_task.master_task_id, v_task.created_by, pg_column_size(coalesce(p_data, 'null')) + 100);
  -- Readers rely on it: a task's events are written under its lock.
  perform from public.tasks where id = p_task_id for no key update;
  perform private.emit_event(p_task_id, v_task.master_task_id, 'signal.received',
    jsonb_build_object('name', p_name, 'signal_id', v_id));
  if exists (
    select from public.task_steps as step
    where step.task_id = p_task_id and step.state = 'started' and step.input ->> 'signal' = p_name
  ) then
    perform private.wake_workflow(p_task_id);
  end if;
  return query select v_id, true;
end;
$$;
comment on function private.store_signal(uuid, text, jsonb, text, text) is
  'Stores a signal and wakes the workflow if it waits for one of this name. With a repeated key it returns the first signal''s id. The caller has checked who sends it. Raises TASK_NOT_FOUND, SIGNAL_INVALID, SIGNAL_NOT_ACCEPTED. Called by signal_task(), and by runners for signal URLs.';

create function private.signal_task(p_task_id uuid, p_name text, p_data jsonb, p_key text)
returns bigint
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_task public.tasks;
  v_signal record;
begin
  perform private.assert_person_may('send the signal', 'swarm:run');
  v_task := private.own_task(p_task_id);
  select * into v_signal from private.store_signal(p_task_id, p_name, p_data, p_key, private.calling_actor());
  if v_signal.is_new then
    perform private.record_calling_client(v_task.master_task_id, v_task.created_by);
  end if;
  return v_signal.id;
end;
$$;
comment on function private.signal_task(uuid, text, jsonb, text) is
  'See public.signal_task(). Definer: users may not write signals; assert_person_may() and own_task() check the caller.';

create function public.signal_task(p_task_id uuid, p_name text, p_data jsonb default 'null', p_key text default null)
returns bigint
language sql
set search_path = ''
as $$
  select private.signal_task(signal_task.p_task_id, signal_task.p_name, signal_task.p_data, signal_task.p_key);
$$;
comment on function public.signal_task(uuid, text, jsonb, text) is
  'Sends a signal to a workflow''s task, which takes it with flow.signal(p_name), now or later: once, in the order of arrival. Returns the signal''s id; a repeated p_key returns the first signal''s. At most 100 signals wait for a task. What an OAuth client sends limits the job to the client''s scopes. For the owner, the owner''s OAuth clients with the scope swarm:run and the service, never for an agent. Raises TASK_NOT_FOUND, SIGNAL_INVALID, SIGNAL_NOT_ACCEPTED, AGENT_NOT_ALLOWED, INSUFFICIENT_SCOPE.';
revoke all on function public.signal_task(uuid, text, jsonb, text) from public, anon, authenticated, service_role;
grant execute on function private.signal_task(uuid, text, jsonb, text), public.signal_task(uuid, text, jsonb, text)
  to authenticated, service_role;

-- What runners sign the addresses with that flow.signalUrl() gives to systems outside.
select vault.create_secret(
  replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  'supaswarm_signal_key',
  'Signs the URLs with which systems outside of a job send it one signal'
)
where not exists (select from vault.decrypted_secrets where name = 'supaswarm_signal_key');

create function private.signal_key()
returns text
language sql
stable
set search_path = ''
as $$
  select decrypted_secret from vault.decrypted_secrets where name = 'supaswarm_signal_key';
$$;
comment on function private.signal_key() is 'The key of signal URLs. Called by runners.';
