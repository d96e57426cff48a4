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
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case p_priority
    when 'high' then 'agent_tasks_high'
    when 'low' then 'agent_tasks_low'
    else 'agent_tasks'
  end;
end;
$$;
comment on function private.queue_of(text) is 'The queue that holds the messages of a priority.';

create function private.send_message(p_task_id uuid, p_priority text, p_visible_at timestamptz default null)
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  v_message constant jsonb := jsonb_build_object('task_id', p_task_id);
  v_visible_at constant timestamptz := coalesce(p_visible_at, clock_timestamp());
  v_id bigint;
begin
  case p_priority
    when 'high' then
      insert into pgmq.q_agent_tasks_high (vt, message) values (v_visible_at, v_message) returning msg_id into v_id;
    when 'low' then
      insert into pgmq.q_agent_tasks_low (vt, message) values (v_visible_at, v_message) returning msg_id into v_id;
    else
      insert into pgmq.q_agent_tasks (vt, message) values (v_visible_at, v_message) returning msg_id into v_id;
  end case;
  return v_id;
end;
$$;
comment on function private.send_message(uuid, text, timestamptz) is
  'Puts the message of a task in its queue and returns the message''s id. pgmq.send() for queues whose names are known: that function plans its statement at every call, which takes longer than running it.';

create function private.move_messages(p_priority text, p_message_ids bigint[], p_visible_at timestamptz)
returns bigint[]
language plpgsql
set search_path = ''
as $$
declare
  v_moved bigint[];
begin
  case p_priority
    when 'high' then
      with moved as (
        update pgmq.q_agent_tasks_high set vt = p_visible_at where msg_id = any (p_message_ids) returning msg_id
      )
      select array_agg(msg_id) into v_moved from moved;
    when 'low' then
      with moved as (
        update pgmq.q_agent_tasks_low set vt = p_visible_at where msg_id = any (p_message_ids) returning msg_id
      )
      select array_agg(msg_id) into v_moved from moved;
    else
      with moved as (
        update pgmq.q_agent_tasks set vt = p_visible_at where msg_id = any (p_message_ids) returning msg_id
      )
      select array_agg(msg_id) into v_moved from moved;
  end case;
  return coalesce(v_moved, '{}');
end;
$$;
comment on function private.move_messages(text, bigint[], timestamptz) is
  'Sets when messages of a priority become visible and returns the ids of those that exist. pgmq.set_vt() for many at once, and to a time that the caller gives its leases too.';

create function private.delete_messages(p_priority text, p_message_ids bigint[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  case p_priority
    when 'high' then delete from pgmq.q_agent_tasks_high where msg_id = any (p_message_ids);
    when 'low' then delete from pgmq.q_agent_tasks_low where msg_id = any (p_message_ids);
    else delete from pgmq.q_agent_tasks where msg_id = any (p_message_ids);
  end case;
end;
$$;
comment on function private.delete_messages(text, bigint[]) is 'Deletes messages of a priority: pgmq.delete() without planning at every call.';

create function private.priorities_with_messages()
returns text[]
language plpgsql
set search_path = ''
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  -- A constant of the statement, so that it can be looked up in an index.
  v_now constant timestamptz := clock_timestamp();
begin
  return array_remove(array[
    case when exists (select from pgmq.q_agent_tasks_high where vt <= v_now) then 'high' end,
    case when exists (select from pgmq.q_agent_tasks where vt <= v_now) then 'normal' end,
    case when exists (select from pgmq.q_agent_tasks_low where vt <= v_now) then 'low' end
  ], null);
end;
$$;
comment on function private.priorities_with_messages() is
  'The priorities, high first, in whose queues a read would find something.';

create function private.message_time(p_run_after timestamptz)
returns timestamptz
language plpgsql
set search_path = ''
as $$
begin
  return case
    when p_run_after is null or p_run_after <= clock_timestamp() then clock_timestamp()
    when p_run_after <= clock_timestamp() + interval '1 minute' then p_run_after
  end;
end;
$$;
comment on function private.message_time(timestamptz) is
  'When a task''s message becomes visible; null when that is more than a minute away, and the task gets its message from the reconciler. A read passes over every invisible message, so far ones stay out of the queue.';

-- Wakes ---------------------------------------------------------------------------------------

-- Good for nothing but a wake: headers queued in net.http_request_queue are readable by every
-- database role, so no secret key may stand there.
select vault.create_secret(
  replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  'supaswarm_wake_token',
  'Lets the database wake edge functions, and nothing else'
)
where not exists (select from vault.decrypted_secrets where name = 'supaswarm_wake_token');

create function private.is_wake_token(p_token text)
returns boolean
language sql
stable
set search_path = ''
as $$
  -- Digests are compared, so that the time taken tells nothing of the token.
  select exists (
    select from vault.decrypted_secrets
    where name = 'supaswarm_wake_token'
      and sha256(convert_to(decrypted_secret, 'utf8')) = sha256(convert_to(is_wake_token.p_token, 'utf8'))
  );
$$;
comment on function private.is_wake_token(text) is 'Called by the functions that the database wakes, to authenticate a wake.';

create function private.configure_project_url(p_url text)
returns void
language sql
set search_path = ''
as $$
  insert into private.settings as setting (key, value)
  values ('project_url', rtrim(configure_project_url.p_url, '/'))
  on conflict (key) do update set value = excluded.value, updated_at = now()
  where setting.value <> excluded.value;
$$;
comment on function private.configure_project_url(text) is
  'Tells the database where its edge functions are. The functions call it with SUPABASE_URL when they start; call it by hand for a project whose first task does not come through a function.';

create function private.wake_function(p_name text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_project_url text := (select value from private.settings where key = 'project_url');
begin
  if v_project_url is null then
    return;
  end if;
  perform net.http_post(
    url := v_project_url || '/functions/v1/' || wake_function.p_name,
    headers := jsonb_build_object(
      'Content-Type', 'application/json',
      'x-supaswarm-wake-token',
      (select decrypted_secret from vault.decrypted_secrets where name = 'supaswarm_wake_token')
    ),
    -- As long as a cold start may take. pg_net waits for a whole batch, so more would delay others.
    timeout_milliseconds := 5000
  );
exception when others then
  -- A wake is only a hint: without pg_net a task must still be created, and its queue kept.
  raise warning 'Cannot wake %: %', wake_function.p_name, sqlerrm;
end;
$$;
comment on function private.wake_function(text) is
  'Asks an edge function to look for its work, after commit. Without a project URL nothing is sent.';

create function private.wake_worker()
returns void
language sql
set search_path = ''
as $$
  select private.wake_function('supaswarm-worker');
$$;
comment on function private.wake_worker() is 'Asks for a worker, after commit. Without a project URL only the cron tick is left, which does the same.';

create function private.pass_wake_gates()
returns text[]
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  -- Whoever holds a gate is about to wake: do not wait for it.
  v_passed constant text[] := array(
    select name
    from private.wake_gate
    where last_wake_at < clock_timestamp() - interval '150 milliseconds'
    for update skip locked
  );
begin
  if cardinality(v_passed) > 0 then
    update private.wake_gate set last_wake_at = clock_timestamp() where name = any (v_passed);
  end if;
  return v_passed;
end;
$$;
comment on function private.pass_wake_gates() is
  'The gates that this caller has passed, which at most one does each 150 ms, and who then wakes.';

create function private.open_listener_gate()
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- Whoever holds the gate is about to notify; that is heard, and leads here again.
  perform from private.wake_gate
  where name = 'listener' and last_wake_at > '-infinity'
  for update skip locked;
  if found then
    update private.wake_gate set last_wake_at = '-infinity' where name = 'listener';
  end if;
end;
$$;
comment on function private.open_listener_gate() is
  'Lets the next task notify, however recently the last one did: called by a claim that leaves a worker with nothing to do, at the end of its transaction.';

create function private.wake_at_commit()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_passed constant text[] := private.pass_wake_gates();
begin
  if 'listener' = any (v_passed) then
    perform pg_notify('supaswarm_tasks', '');
  end if;
  if 'worker' = any (v_passed) then
    perform private.wake_worker();
  end if;
  return null;
end;
$$;
comment on function private.wake_at_commit() is
  'Deferred row trigger: debounced wakes for a task that can be claimed, a notification for workers that listen and a request for one that may have to start. A worker looks again for longer than the debounce. Definer: runs at commit as whoever committed.';

-- Once a transaction: of its thousand tasks the first is queued for the commit, and decides for
-- all. The mark is as local as the queue is: a savepoint that is rolled back takes both along.
create constraint trigger tasks_wake_on_insert after insert on public.tasks
  deferrable initially deferred for each row
  when (case
    when (new.status = 'pending' and new.message_id is not null) is not true then false
    when current_setting('supaswarm.wakes_at_commit', true) = 'true' then false
    else set_config('supaswarm.wakes_at_commit', 'true', true) = 'true'
  end)
  execute function private.wake_at_commit();

create constraint trigger tasks_wake_on_update after update of message_id on public.tasks
  deferrable initially deferred for each row
  when (case
    when (new.status = 'pending' and new.message_id is not null and new.message_id is distinct from old.message_id) is not true then false
    when current_setting('supaswarm.wakes_at_commit', true) = 'true' then false
    else set_config('supaswarm.wakes_at_commit', 'true', true) = 'true'
  end)
  execute function private.wake_at_commit();
