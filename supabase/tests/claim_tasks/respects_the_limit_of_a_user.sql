begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('big');
update private.quotas set amount = 2 where name = 'running_tasks';
insert into private.quotas values ('running_tasks', tests.user_id('big'), 3);
select tests.create_task(p_owner => 'small') from generate_series(1, 10);
select tests.create_task(p_owner => 'big') from generate_series(1, 10);
create temp table first_claim on commit drop as select * from private.claim_tasks('w1', 20, 30);

select results_eq(
  'select created_by, count(*)::int from public.tasks where status = ''running'' group by 1 order by 2',
  $$values (tests.user_id('small'), 2), (tests.user_id('big'), 3)$$,
  'no more than the limit of a user''s tasks run'
);
select is_empty('select * from private.claim_tasks(''w2'', 20, 30)', 'another worker gets none of them');
select is((select count(*) from pgmq.q_agent_tasks)::int, 15, 'blocked tasks keep their messages');

select private.finish_task(task_id, epoch, '{}') from first_claim
where task_id in (select id from public.tasks where created_by = tests.user_id('small'));
select is((select count(*) from private.claim_tasks('w2', 20, 30))::int, 2, 'each end frees a slot');

-- The service is not a user.
select private.create_task('worker-agent', '{}') from generate_series(1, 5);
select is((select count(*) from private.claim_tasks('w2', 20, 30))::int, 5, 'the service has no limit');

delete from private.quotas;
select is((select count(*) from private.claim_tasks('w2', 20, 30))::int, 13, 'without a limit the remaining tasks start');

select * from finish();
rollback;
