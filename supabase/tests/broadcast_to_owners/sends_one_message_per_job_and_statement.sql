begin;
set local search_path = public, extensions;
select plan(3);
select tests.quiet_realtime();
select tests.join_channel('owner', 'supaswarm:user:' || tests.create_user('owner'));
create temp table job on commit drop as select tests.create_task() as id from generate_series(1, 2);
select private.expect_receiver('supaswarm:master:' || id) from job;
delete from realtime.messages where true;

insert into private.task_events (task_id, master_task_id, type, payload)
select id, id, type, '{}' from job, unnest(array['task.started', 'task.retried', 'task.resumed']) as type;
select results_eq(
  $$select payload ->> 'task_id', payload #>> '{data,status}' from realtime.messages where topic like 'supaswarm:user:%' order by 1$$,
  $$select id::text, 'running' from job order by 1$$,
  'for each statement a user receives the last change of each job'
);
select is(
  (select count(*) from realtime.messages where topic like 'supaswarm:master:%'), 6::bigint,
  'the channels of the jobs receive every change'
);
insert into private.task_events (task_id, master_task_id, type) select id, id, 'tool.started' from job;
select is(
  (select count(*) from realtime.messages where topic like 'supaswarm:user:%'), 2::bigint,
  'a change without a new status is not sent'
);
select * from finish();
rollback;
