begin;
set local search_path = public, extensions;
select plan(1);

select tests.create_task();
create temp table made on commit drop as
  select * from private.create_task('worker-agent', '{}', tests.user_id('owner'), p_idempotency_key => 'k');
update private.quotas set amount = 0 where name in ('task_creations_per_minute', 'waiting_tasks');
select is(
  (select task_id from private.create_task('worker-agent', '{}', tests.user_id('owner'), p_idempotency_key => 'k')),
  (select task_id from made), 'a repeated request creates nothing and uses no quota'
);

select * from finish();
rollback;
