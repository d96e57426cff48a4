begin;
set local search_path = public, extensions;
select plan(23);

-- The constraint that refuses a change of a running task, or of a new one.
create temp table task on commit drop as select tests.create_task() as id;
select tests.claim(id) from task;
create function pg_temp.refused_by(p_assignment text) returns text language plpgsql as $$
declare
  v_state text;
  v_constraint text;
begin
  execute format('update public.tasks set %s where id = (select id from task)', p_assignment);
  return 'none';
exception when others then
  get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
  return case v_state when '23514' then v_constraint else v_state end;
end $$;
create function pg_temp.refused_at_creation(p_column text, p_value text) returns text language plpgsql as $$
declare
  v_state text;
  v_constraint text;
begin
  execute format(
    'insert into public.tasks (id, master_task_id, input, %I) select made.id, made.id, ''"now"'', %s
     from (select private.new_id() as id) as made', p_column, p_value);
  return 'none';
exception when others then
  get stacked diagnostics v_state = returned_sqlstate, v_constraint = constraint_name;
  return case v_state when '23514' then v_constraint else v_state end;
end $$;

select is(pg_temp.refused_by($$metadata = '{"a": null}', budget = null, concurrency_key = 'k'$$), 'none', 'a valid change is accepted');
select is(pg_temp.refused_by($$status = 'sleeping', worker_id = null, lease_expires_at = null$$), 'tasks_status_check', 'a status is one of seven');
select is(pg_temp.refused_by($$priority = 'urgent'$$), 'tasks_priority_check', 'a priority is one of three');
select is(pg_temp.refused_by($$metadata = '[]'$$), 'tasks_metadata_check', 'metadata is an object');
select is(pg_temp.refused_by($$intermediate_data = '1'$$), 'tasks_intermediate_data_check', 'saved data is an object');
select is(pg_temp.refused_by($$budget = '"much"'$$), 'tasks_budget_check', 'a budget is an object');
select is(pg_temp.refused_by($$output_schema = 'true'$$), 'tasks_output_schema_check', 'an output schema is an object');
select is(pg_temp.refused_by($$idempotency_key = ''$$), 'tasks_idempotency_key_check', 'an idempotency key is not empty');
select is(
  pg_temp.refused_by($$concurrency_key = repeat('k', 256)$$), 'tasks_concurrency_key_check',
  'a concurrency key has at most 255 characters'
);
select is(pg_temp.refused_by($$tracestate = repeat('t', 513)$$), 'tasks_tracestate_check', 'a trace state has at most 512 characters');
select is(pg_temp.refused_by('max_attempts = 0'), 'tasks_max_attempts_check', 'a task has at least one attempt');
select is(pg_temp.refused_by('deliveries = -1'), 'tasks_counts_not_negative', 'no count is negative');
select is(pg_temp.refused_by('max_deliveries = 0'), 'tasks_counts_not_negative', 'a task has at least one delivery');
select is(pg_temp.refused_by('pending_children = -1'), 'tasks_counts_not_negative', 'the number of subtasks is not negative');
select is(pg_temp.refused_by('worker_id = null'), 'tasks_running_has_lease', 'a running task has a worker');
select is(pg_temp.refused_by('finished_at = now()'), 'tasks_terminal_is_finished', 'a running task has no end');
select is(
  pg_temp.refused_by($$status = 'failed', finished_at = now(), worker_id = null, lease_expires_at = null$$),
  'tasks_failed_has_error', 'a failed task has an error'
);
select is(
  pg_temp.refused_by($$status = 'pending_subtask', worker_id = null, lease_expires_at = null$$),
  'tasks_parked_waits_for_children', 'a parked task waits for subtasks'
);
select is(pg_temp.refused_by('parent_step_seq = 1'), 'tasks_step_of_parent', 'a job has no step of a parent');
select is(pg_temp.refused_by('master_task_id = private.new_id()'), 'tasks_master_is_root', 'a job is its own master');

select is(pg_temp.refused_at_creation('metadata', $$'{}'$$), 'none', 'a valid task is created');
select is(pg_temp.refused_at_creation('budget', $$'[]'$$), 'tasks_budget_check', 'a new task is checked as well');
select throws_like(
  $$update public.tasks set metadata = '[]' where id = (select id from task)$$,
  'Cannot write the task %: its metadata is not a JSON object', 'the error names the problem'
);
select * from finish();
rollback;
