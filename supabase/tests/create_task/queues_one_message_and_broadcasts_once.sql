begin;
set local search_path = public, extensions;
select plan(4);

select tests.quiet_realtime();
select private.expect_receiver('supaswarm:user:' || tests.create_user('owner'));
create temp table made on commit drop as select tests.create_task() as id;

select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'one message is queued');
select results_eq(
  'select message -> ''task_id'' from pgmq.q_agent_tasks', 'select to_jsonb(id) from made',
  'the message names the task'
);
select results_eq('select type from public.task_events', array['task.created'], 'one event is written');
select results_eq(
  $$select topic from realtime.messages where topic like 'supaswarm:user:%'$$,
  $$select 'supaswarm:user:' || tests.user_id('owner')$$,
  'one broadcast is sent on the channel of the owner, who has joined it'
);

select * from finish();
rollback;
