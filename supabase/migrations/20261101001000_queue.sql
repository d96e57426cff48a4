-- The queues and the wakes. Delivery is the queue; a wake is only a hint.

select pgmq.create('agent_tasks');
select pgmq.create('agent_tasks_high');
select pgmq.create('agent_tasks_low');
alter table pgmq.q_agent_tasks enable row level security;
alter table pgmq.q_agent_tasks_high enable row level security;
alter table pgmq.q_agent_tasks_low enable row level security;
alter table pgmq.a_agent_tasks enable row level security;
alter table pgmq.a_agent_tasks_high enable row level security;
alter table pgmq.a_agent_tasks_low enable row level security;

create function private.queue_of(p_priority text)
returns text
language sql
immutable
security invoker
set search_path = ''
as $$
  select case p_priority
    when 'high' then 'agent_tasks_high'
    when 'low' then 'agent_tasks_low'
    else 'agent_tasks'
  end;
$$;
comment on function private.queue_of(text) is 'The queue that holds the messages of a priority.';
revoke all on function private.queue_of(text) from public;

create function private.send_message(p_task_id uuid, p_priority text, p_visible_at timestamptz default null)
returns bigint
language sql
volatile
security invoker
set search_path = ''
as $$
  select pgmq.send(
    private.queue_of(send_message.p_priority),
    jsonb_build_object('task_id', send_message.p_task_id),
    coalesce(send_message.p_visible_at, clock_timestamp())
  );
$$;
comment on function private.send_message(uuid, text, timestamptz) is
  'Puts the message of a task in its queue and returns the message''s id.';
revoke all on function private.send_message(uuid, text, timestamptz) from public;

create function private.message_time(p_run_after timestamptz)
returns timestamptz
language sql
volatile
security invoker
set search_path = ''
as $$
  select case
    when p_run_after is null or p_run_after <= clock_timestamp() then clock_timestamp()
    when p_run_after <= clock_timestamp() + interval '1 minute' then p_run_after
  end;
$$;
comment on function private.message_time(timestamptz) is
  'When a task''s message becomes visible; null when that is more than a minute away, and the task gets its message from the reconciler. A read passes over every invisible message, so far ones stay out of the queue.';
revoke all on function private.message_time(timestamptz) from public;

-- Wakes ---------------------------------------------------------------------------------------

-- Good for nothing but a wake: headers queued in net.http_request_queue are readable by every
-- database role, so no secret key may stand there.
select vault.create_secret(
  replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  'supaswarm_wake_token',
  'Lets the database wake supaswarm-worker, and nothing else'
)
where not exists (select from vault.decrypted_secrets where name = 'supaswarm_wake_token');

create function private.is_wake_token(p_token text)
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  -- Digests are compared, so that the time taken tells nothing of the token.
  select exists (
    select from vault.decrypted_secrets
    where name = 'supaswarm_wake_token'
      and sha256(convert_to(decrypted_secret, 'utf8')) = sha256(convert_to(is_wake_token.p_token, 'utf8'))
  );
$$;
comment on function private.is_wake_token(text) is 'Called by supaswarm-worker to authenticate a wake.';
revoke all on function private.is_wake_token(text) from public;

create function private.configure_project_url(p_url text)
returns void
language sql
volatile
security invoker
set search_path = ''
as $$
  insert into private.settings as setting (key, value)
  values ('project_url', rtrim(configure_project_url.p_url, '/'))
  on conflict (key) do update set value = excluded.value, updated_at = now()
  where setting.value <> excluded.value;
$$;
comment on function private.configure_project_url(text) is
  'Tells the database where its edge functions are. The functions call it with SUPABASE_URL when they start; call it by hand for a project whose first task does not come through a function.';
revoke all on function private.configure_project_url(text) from public;

create function private.wake_worker()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_project_url text := (select value from private.settings where key = 'project_url');
begin
  if v_project_url is null then
    return;
  end if;
  perform net.http_post(
    url := v_project_url || '/functions/v1/supaswarm-worker',
    headers := jsonb_build_object(
      'Content-Type', 'application/json',
      'x-supaswarm-wake-token',
      (select decrypted_secret from vault.decrypted_secrets where name = 'supaswarm_wake_token')
    ),
    -- The worker answers at once; pg_net waits for a whole batch, so a slow answer delays others.
    timeout_milliseconds := 2000
  );
end;
$$;
comment on function private.wake_worker() is 'Asks for a worker, after commit. Without a project URL only the cron tick is left, which does the same.';
revoke all on function private.wake_worker() from public;

create function private.wake_at_commit()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  -- Whoever holds the gate is about to wake: do not wait for it.
  perform from private.wake_gate
  where name = 'worker' and last_wake_at < clock_timestamp() - interval '150 milliseconds'
  for update skip locked;
  if found then
    update private.wake_gate set last_wake_at = clock_timestamp() where name = 'worker';
    perform private.wake_worker();
    perform pg_notify('supaswarm_tasks', '');
  end if;
  return null;
end;
$$;
comment on function private.wake_at_commit() is
  'Deferred row trigger: a debounced wake for a task that can be claimed. A worker looks again for longer than the debounce. Definer: runs at commit as whoever committed.';
revoke all on function private.wake_at_commit() from public;

create constraint trigger tasks_wake_on_insert after insert on public.tasks
  deferrable initially deferred for each row
  when (new.status = 'pending' and new.message_id is not null)
  execute function private.wake_at_commit();

create constraint trigger tasks_wake_on_update after update of message_id on public.tasks
  deferrable initially deferred for each row
  when (new.status = 'pending' and new.message_id is not null and new.message_id is distinct from old.message_id)
  execute function private.wake_at_commit();
