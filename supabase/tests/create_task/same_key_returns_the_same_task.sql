begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_user('owner'), tests.create_user('other'), tests.create_agent('worker-agent');
create temp table first on commit drop as
  select * from private.create_task('worker-agent', '{}', tests.user_id('owner'), 'key');

create temp table second on commit drop as
  select * from private.create_task('worker-agent', '"changed"', tests.user_id('owner'), 'key');

select ok((select is_new from first), 'the first call creates a task');
select is((select task_id from second), (select task_id from first), 'the second call returns it');
select ok((select not is_new from second), 'it reports that the task is not new');
select isnt(
  (select task_id from private.create_task('worker-agent', '{}', tests.user_id('other'), 'key')),
  (select task_id from first),
  'the same key of another owner creates another task'
);

select * from finish();
rollback;
