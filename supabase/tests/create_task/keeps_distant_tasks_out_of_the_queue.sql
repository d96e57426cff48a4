begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_agent('worker-agent');
create temp table far on commit drop as
  select * from private.create_task('worker-agent', '{}', p_run_after => now() + interval '1 hour');
create temp table near on commit drop as
  select * from private.create_task('worker-agent', '{}', p_run_after => clock_timestamp() + interval '30 seconds');

select results_eq(
  $$select message ->> 'task_id', vt from pgmq.q_agent_tasks$$,
  $$select id::text, run_after from public.tasks where id = (select task_id from near)$$,
  'a task half a minute away has a message that is visible then, and one an hour away has none'
);
select is_empty('select * from private.claim_tasks(''w1'', 10, 30)', 'neither can be claimed yet');

-- An hour passes.
alter table public.tasks disable trigger user;
update public.tasks set run_after = clock_timestamp() where id = (select task_id from far);
alter table public.tasks enable trigger user;
select private.reconcile();
select is((select count(*) from pgmq.q_agent_tasks)::int, 2, 'the reconciler sends the message when the task is due');
select isnt(tests.claim((select task_id from far)), null, 'then it can be claimed');

select * from finish();
rollback;
