begin;
set local search_path = public, extensions;
select plan(9);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
create function pg_temp.usage() returns jsonb language sql as $$
  select jsonb_build_object('model', 'm', 'key_source', 'none', 'input_tokens', 10, 'output_tokens', 1)
$$;
create function pg_temp.answer(p_seq int) returns boolean language sql as $$
  select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(
    jsonb_build_object('seq', p_seq, 'kind', 'model', 'state', 'done', 'output', '{}'::jsonb, 'usage', pg_temp.usage())))
$$;
create function pg_temp.use_in_tool() returns void language sql as $$
  select private.record_usage(pg_temp.usage() || jsonb_build_object('task_id', id, 'step_seq', 1)) from made
$$;
create function pg_temp.sums() returns bigint[] language sql as $$
  select array[task.input_tokens, task.output_tokens, usage.input_tokens]
  from public.tasks as task join public.job_usage as usage on usage.master_task_id = task.id
$$;

select tests.claim((select id from made));
select pg_temp.answer(1);
select pg_temp.use_in_tool();
select is(pg_temp.sums(), '{0,0,20}', 'the calls of a running task are in the sums of its job');
select private.yield_task(id, tests.epoch_of(id)) from made;
select is(pg_temp.sums(), '{20,2,20}', 'they are added when the task is returned');
select pg_temp.use_in_tool();
select is(pg_temp.sums(), '{30,3,30}', 'a call of a task that waits is added at once');

select tests.claim((select id from made));
select pg_temp.answer(2);
select private.fail_task(id, tests.epoch_of(id), '{"code": "PROVIDER_FAILED"}', 'backoff') from made;
select is(pg_temp.sums(), '{40,4,40}', 'a retry adds those of its run only');
update public.tasks set run_after = null;

select tests.claim((select id from made));
select pg_temp.answer(3);
delete from public.usage_events where id <= (select summed_usage_id from public.tasks);
select private.lock_job(id), private.park(task, 'needs_human_review') from public.tasks as task;
select is(pg_temp.sums(), '{50,5,50}', 'a park adds the last call, although retention has deleted the earlier ones');
update public.tasks set status = 'pending';

select tests.claim((select id from made));
select pg_temp.answer(4);
select private.finish_task(id, tests.epoch_of(id), '"done"') from made;
select is(pg_temp.sums(), '{60,6,60}', 'the end adds the last call');
select pg_temp.use_in_tool();
select is(pg_temp.sums(), '{70,7,70}', 'a call that is recorded after the end is added');
select is((select count(*)::int from public.usage_events where id > (select summed_usage_id from public.tasks)), 0,
  'a task that does not run has summed every call');

select tests.act_as_user('stranger');
select is_empty('select from public.job_usage', 'a stranger reads no sums of the job');
select tests.act_as_nobody();

select * from finish();
rollback;
