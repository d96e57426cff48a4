begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_task(p_owner => 'busy') from generate_series(1, 60);
select is((select count(*) from private.claim_tasks('w1', 8, 30))::int, 6, 'a worker with eight slots reserves two of them');
select is_empty('select * from private.claim_tasks(''w2'', 8, 30)', 'another worker gets no more tasks of that user');
select tests.create_task(p_owner => 'other') from generate_series(1, 10);
select results_eq(
  'select created_by from public.tasks where id in (select task_id from private.claim_tasks(''w1'', 2, 30))',
  array[tests.user_id('other'), tests.user_id('other')],
  'the slots are reserved for other users'
);

select * from finish();
rollback;
