-- The queue agent_tasks of Supabase Queues: one message {task_id} for each waiting task, for dashboards and for
-- whoever reads or sends with pgmq. It follows the tasks: claims select tasks and never read it. A task that is due
-- in more than a minute has no message yet, so that the queue stays short.

select pgmq.create('agent_tasks');
alter table pgmq.q_agent_tasks enable row level security;
alter table pgmq.a_agent_tasks enable row level security;
create index q_agent_tasks_task_idx on pgmq.q_agent_tasks ((message ->> 'task_id'));
-- Rows live for seconds. By default autovacuum waits until a fifth of a table is dead; for a queue that is empty
-- between bursts, that fifth would depend on an outdated size.
alter table pgmq.q_agent_tasks set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 1000
);

create function private.follow_waiting_task()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
begin
  if tg_op <> 'INSERT' then
    delete from pgmq.q_agent_tasks where message ->> 'task_id' = old.id::text;
  end if;
  if tg_op <> 'DELETE' and new.status = 'pending'
    and (new.run_after is null or new.run_after <= clock_timestamp() + interval '1 minute')
  then
    -- The message is not sent by hand.
    perform set_config('supaswarm.follows_tasks', 'true', true);
    insert into pgmq.q_agent_tasks (vt, message)
    values (coalesce(new.run_after, clock_timestamp()), jsonb_build_object('task_id', new.id));
    perform set_config('supaswarm.follows_tasks', '', true);
  end if;
  return null;
end;
$$;
comment on function private.follow_waiting_task() is
  'Row trigger of tasks that begin or end to wait: keeps one message for each waiting task. Definer: whoever may write tasks need not write queues.';
create trigger tasks_follow_new after insert on public.tasks
  for each row when (new.status = 'pending') execute function private.follow_waiting_task();
create trigger tasks_follow_changed after update of status, run_after on public.tasks
  for each row when (
    'pending' in (old.status, new.status)
    and (old.status is distinct from new.status or old.run_after is distinct from new.run_after)
  )
  execute function private.follow_waiting_task();
create trigger tasks_follow_deleted after delete on public.tasks
  for each row when (old.status = 'pending') execute function private.follow_waiting_task();

create function private.task_of_message(p_message jsonb)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return (p_message ->> 'task_id')::uuid;
exception when invalid_text_representation then
  return null;
end;
$$;
comment on function private.task_of_message(jsonb) is 'The task_id of a message, or null when it is no UUID.';

create function private.take_message()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_task_id constant uuid := private.task_of_message(new.message);
  v_is_waiting boolean;
begin
  perform private.wake_stranded_task(v_task_id);
  update public.tasks set run_after = null where id = v_task_id and status = 'pending' and run_after is not null;
  v_is_waiting := exists (select from public.tasks where id = v_task_id and status = 'pending');
  if v_is_waiting then
    perform pg_notify('supaswarm_tasks', '');
    perform private.wake_function('supaswarm-worker');
  end if;
  delete from pgmq.q_agent_tasks as message
  where (message.msg_id = new.msg_id and not v_is_waiting)
    or (message.message ->> 'task_id' = v_task_id::text and exists (
      select from pgmq.q_agent_tasks as later
      where later.message ->> 'task_id' = v_task_id::text and later.msg_id > message.msg_id
    ));
  return null;
end;
$$;
comment on function private.take_message() is
  'Row trigger of a message that somebody sends: its task, if it waits, becomes due, and a worker is woken. A task keeps its latest message; one for a task that does not wait, or for none, is deleted. Definer: whoever may send need not write tasks.';
create trigger q_agent_tasks_take_message after insert on pgmq.q_agent_tasks
  for each row when (current_setting('supaswarm.follows_tasks', true) is distinct from 'true')
  execute function private.take_message();

create function private.repair_queue()
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  delete from pgmq.q_agent_tasks
  where msg_id in (
    select message.msg_id
    from pgmq.q_agent_tasks as message
    where not exists (
      select from public.tasks as task
      where task.status = 'pending' and task.id = private.task_of_message(message.message)
    )
    limit 1000
    -- Another session is about to delete it.
    for update skip locked
  );
  perform set_config('supaswarm.follows_tasks', 'true', true);
  with missing as (
    select task.id, task.run_after
    from public.tasks as task
    where task.status = 'pending'
      and (task.run_after is null or task.run_after <= clock_timestamp() + interval '1 minute')
      and not exists (select from pgmq.q_agent_tasks as message where message.message ->> 'task_id' = task.id::text)
    limit 1000
    -- Its state does not change until the message is visible to others.
    for no key update skip locked
  )
  insert into pgmq.q_agent_tasks (vt, message)
  select coalesce(missing.run_after, clock_timestamp()), jsonb_build_object('task_id', missing.id) from missing;
  get diagnostics v_count = row_count;
  perform set_config('supaswarm.follows_tasks', '', true);
  return v_count;
end;
$$;
comment on function private.repair_queue() is
  'Sends a message for each waiting task that has none, because it is due only now or somebody deleted it, and deletes those whose task does not wait. Returns how many it sent. Called by the reconciler.';
