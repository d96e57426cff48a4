begin;
set local search_path = public, extensions;
select plan(4);

-- Every status × children that wait, run or do not exist × a master task or a subtask × every way to end it.

create temp table way (name text primary key, prepare text not null default 'logs = logs', act text not null) on commit drop;
insert into way (name, prepare, act) values
  ('completed', default, $$private.finish_task($1, $2, '"done"')$$),
  ('completed with others', default,
    $$count(*) from private.finish_tasks(jsonb_build_array(jsonb_build_object('id', $1, 'held_epoch', $2, 'output', 'done')))$$),
  ('completed by its code', default, $$private.finish_workflow($1, $2, '"done"')$$),
  ('failed', default, $$private.fail_task($1, $2, '{"code": "X"}', 'never')$$),
  ('out of attempts', 'max_attempts = 1', $$private.fail_task($1, $2, '{"code": "X"}', 'backoff')$$),
  ('too slow for a whole worker', default, $$private.yield_task($1, $2, '[]', '{"seq": 1, "is_final": true}')$$),
  ('out of deliveries', 'deliveries = max_deliveries, lease_expires_at = lease_expires_at - interval ''1 day''',
    $$private.reconcile()$$),
  ('past its deadline', 'budget = ''{"max_wall_seconds": 1}'', started_at = now() - interval ''1 day''', $$private.reconcile()$$),
  ('cancelled by its owner', default, $$public.cancel_task($1)$$),
  ('cancelled by an operator', default, $$public.operator_cancel_job($1, 'It runs wild')$$),
  ('cancelled with its job', default, $$public.cancel_task((select master_task_id from public.tasks where id = $1))$$),
  ('completed after a cancellation', 'cancel_requested_at = now()', $$private.finish_task($1, $2, '"done"')$$),
  ('failed after a cancellation', 'cancel_requested_at = now()', $$private.fail_task($1, $2, '{"code": "X"}', 'backoff')$$),
  ('parked after a cancellation', 'cancel_requested_at = now()', $$private.park_task($1, $2)$$),
  ('suspended after a cancellation', 'cancel_requested_at = now()', $$private.suspend_workflow($1, $2, '[]')$$),
  ('returned after a cancellation', 'cancel_requested_at = now()', $$private.yield_task($1, $2)$$),
  ('asking after a cancellation', 'cancel_requested_at = now()', $$private.request_review($1, $2, 4, 'May I?')$$),
  ('dead after a cancellation', 'cancel_requested_at = now(), lease_expires_at = lease_expires_at - interval ''1 day''',
    $$private.reconcile()$$);

-- The statuses, as the table's CHECK lists them.
create temp table state on commit drop as
select status, children, place
from pg_constraint
cross join lateral unnest(substring(pg_get_constraintdef(oid) from '\{.*\}')::text[]) as status
cross join unnest(array['none', 'waiting', 'running']) as children
cross join unnest(array['master task', 'subtask']) as place
where conname = 'tasks_status_check';

-- Brings a new task into a state, and returns null when the table's CHECKs refuse the state.
create function pg_temp.make(p_state state) returns uuid language plpgsql as $$
declare
  v_id uuid := case p_state.place when 'subtask' then tests.create_family(1) else tests.create_task() end;
begin
  if p_state.place = 'subtask' then
    perform private.park_task(v_id, tests.epoch_of(v_id));
    v_id := (select id from public.tasks where parent_id = v_id);
  end if;
  perform tests.claim(v_id);
  if p_state.children <> 'none' then
    perform private.begin_steps(v_id, tests.epoch_of(v_id), 30, '[
      {"seq": 1, "kind": "system", "name": "create_subtask"}, {"seq": 2, "kind": "system", "name": "create_subtask"}]');
    perform private.spawn_subtasks(v_id, tests.epoch_of(v_id), 30, '[
      {"seq": 1, "agent": "worker-agent", "input": 1}, {"seq": 2, "agent": "worker-agent", "input": 2}]');
  end if;
  if p_state.children = 'running' then
    perform private.claim_tasks('w2', 50, 30);
  end if;
  if p_state.status in ('completed', 'failed', 'cancelled') then
    perform private.end_task(v_id, p_state.status, p_error => '{"code": "X"}');
  elsif p_state.status <> 'running' then
    update public.tasks
    set status = p_state.status, lease_expires_at = null, worker_id = null
    where id = v_id;
  end if;
  if p_state.status = 'needs_human_review' then
    insert into public.human_reviews (task_id, seq, question) values (v_id, 4, 'May I?');
  end if;
  return v_id;
exception when check_violation then
  return null;
end;
$$;

-- What is wrong after the end: the promises that hold for every task of the job.
create function pg_temp.faults(p_master_task_id uuid, p_was_ended uuid[], p_last_event_id bigint) returns text[] language sql as $$
  select array(
    select format('%s %s', fault.name, task.id)
    from public.tasks as task
    cross join lateral (
      select count(*) filter (where type in ('task.completed', 'task.failed', 'task.cancelled')) as end_count
      from public.task_events as event where event.task_id = task.id and event.id > p_last_event_id
    ) as traced
    cross join lateral (
      values
        ('does not end exactly once',
          traced.end_count <> (task.finished_at is not null and task.id <> all (p_was_ended))::int),
        ('counts its children wrongly', task.pending_children <> (
          select count(*) from public.tasks as child where child.parent_id = task.id and child.finished_at is null)),
        ('did not report its end to its parent exactly once', task.parent_step_seq is not null and (
          select count(*) from public.task_events as event
          where event.task_id = task.parent_id and event.id > p_last_event_id and event.type = 'subtask.finished'
            and event.payload ->> 'subtask_id' = task.id::text
        ) <> (task.finished_at is not null and task.id <> all (p_was_ended))::int),
        ('left its step of the parent open', task.finished_at is not null and task.id <> all (p_was_ended) and exists (
          select from public.task_steps as step
          where step.task_id = task.parent_id and step.seq = task.parent_step_seq and step.state = 'started')),
        ('works for a task that has ended', task.finished_at is null and task.cancel_requested_at is null and exists (
          select from public.tasks as parent
          where parent.id = task.parent_id and parent.finished_at is not null and parent.id <> all (p_was_ended))),
        ('waits for a task that has ended', task.finished_at is null and task.status <> 'running' and exists (
          select from public.tasks as parent
          where parent.id = task.parent_id and parent.finished_at is not null and parent.id <> all (p_was_ended))),
        ('waits for nothing', task.status = 'pending_subtask' and task.pending_children = 0),
        ('has a message although it does not wait', task.status <> 'pending' and exists (
          select from pgmq.q_agent_tasks as live where live.message ->> 'task_id' = task.id::text)),
        ('left a review open', task.finished_at is not null and task.id <> all (p_was_ended) and exists (
          select from public.human_reviews as review where review.task_id = task.id and review.answered_at is null))
    ) as fault (name, is_present)
    where task.master_task_id = p_master_task_id and fault.is_present
  );
$$;

create temp table outcome (place text, status text, children text, way text, result text, faults text[]) on commit drop;

-- Ends the task in one way, a second time in the same way, and undoes both.
create function pg_temp.try_way(p_state state, p_way way, p_task_id uuid) returns void language plpgsql as $$
declare
  v_master_task_id constant uuid := (select master_task_id from public.tasks where id = p_task_id);
  v_was_ended constant uuid[] := array(
    select id from public.tasks where master_task_id = v_master_task_id and finished_at is not null);
  v_last_event_id constant bigint := (select max(id) from public.task_events);
  v_result text := 'ended';
  v_faults text[] := '{}';
begin
  begin
    execute format('update public.tasks set %s where id = $1', p_way.prepare) using p_task_id;
    for attempt in 1..2 loop
      begin
        execute format('select %s', p_way.act) using p_task_id, tests.epoch_of(p_task_id);
      exception
        -- A refusal with a stable code changes nothing.
        when sqlstate 'PT409' or sqlstate 'PT404' then v_result := 'refused';
        when others then v_faults := v_faults || format('raises %s: %s', sqlstate, sqlerrm);
      end;
    end loop;
    set constraints all immediate;
    -- reconcile() records errors instead of raising them.
    v_faults := v_faults || array(select last_error_message from private.maintenance_failures);
    v_faults := v_faults || pg_temp.faults(v_master_task_id, v_was_ended, v_last_event_id);
    raise exception using errcode = 'SWUND';
  exception
    when sqlstate 'SWUND' then null;
    when check_violation then return; -- This way cannot begin in this state.
  end;
  insert into outcome values (p_state.place, p_state.status, p_state.children, p_way.name, v_result, v_faults);
end;
$$;

do $$
declare
  v_state state;
  v_way way;
  v_task_id uuid;
begin
  for v_state in select * from state loop
    v_task_id := pg_temp.make(v_state);
    if v_task_id is not null then
      for v_way in select * from way loop
        perform pg_temp.try_way(v_state, v_way, v_task_id);
      end loop;
      -- The next state starts without this job.
      delete from public.tasks;
    end if;
  end loop;
end;
$$;

select is_empty(
  'select place, status, children, way, faults from outcome where cardinality(faults) > 0', 'no way to end a task breaks a promise'
);
select results_eq(
  'select distinct way from outcome order by way', 'select name from way order by name', 'every way was tried'
);
select results_eq(
  'select distinct status, children from outcome order by 1, 2',
  -- A task never waits for subtasks that it does not have.
  $$select distinct status, children from state where (status, children) <> ('pending_subtask', 'none') order by 1, 2$$,
  'every state was tried'
);
select results_eq(
  $$select proname::text collate "default" from pg_proc
    where pronamespace = 'private'::regnamespace
      and prosrc ~ '(private\.(end_task|bury_task|cancel_tasks|hold_or_cancel|end_waiting_as_cancelled)\(|status = ''completed'',)'
    order by 1$$,
  array[
    'bury_task', 'cancel_descendants', 'cancel_job', 'cancel_tasks', 'end_expired_task', 'end_overdue_job', 'fail_task',
    'finish_task', 'finish_without_waiters', 'finish_workflow', 'hold_or_cancel', 'park_task', 'request_review', 'suspend_workflow',
    'yield_task'
  ],
  'no other function ends a task: add a way above for each that does'
);

select * from finish();
rollback;
