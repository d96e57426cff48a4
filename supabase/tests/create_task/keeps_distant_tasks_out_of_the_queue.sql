begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_agent('worker-agent');
create temp table far on commit drop as
  select * from private.create_task('worker-agent', '{}', p_run_after => now() + interval '1 hour');
create temp table near on commit drop as
  select * from private.create_task('worker-agent', '{}', p_run_after => clock_timestamp() + interval '30 seconds');

select is((select message_id from public.tasks where id = (select task_id from far)), null, 'a task one hour away has no message');
select ok((select message_id is not null from public.tasks where id = (select task_id from near)), 'a task half a minute away has a message');
select is_empty('select * from private.claim_tasks(''w1'', 10, 30)', 'neither can be claimed yet');

update public.tasks set run_after = clock_timestamp() where id = (select task_id from far);
select private.reconcile();

select is(tests.claim((select task_id from far)), 1::bigint, 'the reconciler sends the message when the task is due');

select * from finish();
rollback;
