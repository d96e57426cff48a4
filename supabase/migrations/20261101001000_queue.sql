-- The queue of tasks: one message per waiting task. Columns of the tasks decide which task runs next.

select pgmq.create('agent_tasks');
alter table pgmq.q_agent_tasks enable row level security;
alter table pgmq.a_agent_tasks enable row level security;

create function private.send_message(p_task_id uuid, p_visible_at timestamptz default null)
returns bigint
language plpgsql
set search_path = ''
as $$
declare
  v_id bigint;
begin
  insert into pgmq.q_agent_tasks (vt, message)
  values (coalesce(p_visible_at, clock_timestamp()), jsonb_build_object('task_id', p_task_id))
  returning msg_id into v_id;
  return v_id;
end;
$$;
comment on function private.send_message(uuid, timestamptz) is
  'Puts the message of a task in the queue and returns the message''s id. Replaces pgmq.send(), which plans its statement at every call; planning takes longer than running it.';

create function private.delete_messages(p_message_ids bigint[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  delete from pgmq.q_agent_tasks where msg_id = any (p_message_ids);
end;
$$;
comment on function private.delete_messages(bigint[]) is 'Deletes messages of tasks. Replaces pgmq.delete(), which plans its statement at every call.';

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
  'When a task''s message becomes visible. Null when that is more than a minute away: the reconciler then adds the message later, so that the queue stays short.';

-- Fires once per transaction: only the first of its new tasks queues the trigger. The setting that marks
-- this is local to the transaction, and a rollback to a savepoint undoes both the setting and the queued
-- trigger.
create constraint trigger tasks_wake_on_insert after insert on public.tasks
  deferrable initially deferred for each row
  when (case
    when (new.status = 'pending' and new.message_id is not null) is not true then false
    when current_setting('supaswarm.wakes_at_commit', true) = 'true' then false
    else set_config('supaswarm.wakes_at_commit', 'true', true) = 'true'
  end)
  execute function private.wake_at_commit('supaswarm-worker', 'supaswarm_tasks');

create constraint trigger tasks_wake_on_update after update of message_id on public.tasks
  deferrable initially deferred for each row
  when (case
    when (new.status = 'pending' and new.message_id is not null and new.message_id is distinct from old.message_id) is not true then false
    when current_setting('supaswarm.wakes_at_commit', true) = 'true' then false
    else set_config('supaswarm.wakes_at_commit', 'true', true) = 'true'
  end)
  execute function private.wake_at_commit('supaswarm-worker', 'supaswarm_tasks');
