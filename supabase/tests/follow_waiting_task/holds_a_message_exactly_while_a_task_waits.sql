begin;
set local search_path = public, extensions;
select plan(9);

create function pg_temp.queued() returns uuid[] language sql as $$
  select array_agg((message ->> 'task_id')::uuid order by msg_id) from pgmq.q_agent_tasks
$$;
create temp table made on commit drop as select tests.create_task() as id;
select is(pg_temp.queued(), array(select id from made), 'a new task has a message');
select results_eq('select message from pgmq.q_agent_tasks', $$select jsonb_build_object('task_id', id) from made$$, 'it holds nothing but the task''s id');
select is((select queue_length from pgmq.metrics('agent_tasks')), 1::bigint, 'the metrics count it');

select tests.claim((select id from made));
select is(pg_temp.queued(), null, 'a running task has none');
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
select is(pg_temp.queued(), array(select id from made), 'a returned task has one again');

update public.tasks set run_after = clock_timestamp() + interval '1 hour';
select is(pg_temp.queued(), null, 'a task that is due in an hour has none');
update public.tasks set run_after = clock_timestamp() + interval '10 seconds';
select ok((select vt > clock_timestamp() from pgmq.q_agent_tasks), 'one that is due soon has a message that is visible then');

select public.cancel_task((select id from made));
select is(pg_temp.queued(), null, 'a cancelled task has none');
select tests.create_task();
delete from public.tasks;
select is(pg_temp.queued(), null, 'nor has a deleted one');

select * from finish();
rollback;
