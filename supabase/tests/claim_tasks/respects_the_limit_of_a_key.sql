begin;
set local search_path = public, extensions;
select plan(4);

insert into private.concurrency_limits values ('crm', 1);
select tests.create_user('other'), tests.create_task();
select private.create_task('worker-agent', '{}', tests.user_id('owner'), p_concurrency_key => 'crm') from generate_series(1, 120);
select private.create_task('worker-agent', '{}', tests.user_id('owner'), p_concurrency_key => 'mail') from generate_series(1, 3);
select private.create_task('worker-agent', '{}', tests.user_id('other'), p_concurrency_key => 'crm') from generate_series(1, 3);
create temp table first_claim on commit drop as select * from private.claim_tasks('w1', 50, 30);

select results_eq(
  $$select created_by = tests.user_id('owner'), concurrency_key, count(*)::int
    from public.tasks where status = 'running' group by 1, 2 order by 1, 2$$,
  $$values (false, 'crm', 1), (true, 'crm', 1), (true, 'mail', 3), (true, null, 1)$$,
  'one task per key and owner runs, and the tasks behind it do not wait'
);
select is_empty('select * from private.claim_tasks(''w2'', 50, 30)', 'no more tasks can start');
select private.finish_task(task_id, epoch, '{}') from first_claim
where task_id = (select id from public.tasks where concurrency_key = 'crm' and status = 'running' and created_by = tests.user_id('owner'));
create temp table first_in_line on commit drop as
  select id from public.tasks
  where concurrency_key = 'crm' and created_by = tests.user_id('owner') and status = 'pending'
  order by id limit 1;
create temp table second_claim on commit drop as select * from private.claim_tasks('w2', 50, 30);
select results_eq(
  'select task_id from second_claim', 'select id from first_in_line', 'each end starts the first task in line'
);

insert into private.concurrency_limits values ('*', 0);
select private.create_task('worker-agent', '{}', tests.user_id('other'), p_concurrency_key => 'new');
select is_empty('select * from private.claim_tasks(''w2'', 50, 30)', 'a limit of zero blocks every key without a limit of its own');

select * from finish();
rollback;
