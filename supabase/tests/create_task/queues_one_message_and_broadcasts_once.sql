begin;
set local search_path = public, extensions;
select plan(4);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.create_task() as id;

select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'one message is queued');
select results_eq(
  'select message -> ''task_id'' from pgmq.q_agent_tasks', 'select to_jsonb(id) from made',
  'the message names the task'
);
select results_eq('select type from public.task_events', array['task.created'], 'one event is written');
select set_eq(
  'select topic from realtime.messages',
  'select ''supaswarm:master:'' || id from made',
  'one broadcast is sent on the channel of the job'
);

select * from finish();
rollback;
