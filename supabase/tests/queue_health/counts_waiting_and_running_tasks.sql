begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_family(1) as id;
select private.park_task((select id from made), tests.epoch_of((select id from made)));
select tests.create_task(p_priority => 'high');
select tests.claim(tests.create_task(p_priority => 'high'));
select private.heartbeat('w1', '[]', 30);
select tests.create_user('owner');

select tests.act_as_service();
select results_eq(
  'select priority, waiting_count, running_count, waiting_for_subtasks_count from public.queue_health order by priority',
  $$values ('high', 0::bigint, 2::bigint, 0::bigint), ('low', 0, 0, 0), ('normal', 0, 1, 1)$$,
  'each task is counted once'
);
select is((select min(live_worker_count) from public.queue_health), 1::bigint, 'live workers are counted');
select tests.act_as_user('owner');
select is(tests.code_of('select * from public.queue_health'), '42501', 'users cannot read the queue');
select is(tests.code_of('select * from public.stuck_tasks'), '42501', 'users cannot read the stuck tasks');
select is(tests.code_of('select * from public.dead_letters'), '42501', 'users cannot read the dead letters');
select tests.act_as_nobody();

select * from finish();
rollback;
