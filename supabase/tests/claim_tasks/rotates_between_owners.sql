begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_task(p_owner => 'flood') from generate_series(1, 60);
create temp table line on commit drop as select id, id as place from public.tasks;
select tests.create_task(p_owner => 'drop') from generate_series(1, 2);
create temp table service as
  select task_id from private.create_task('worker-agent', '{}');

create temp table claimed on commit drop as
  select task.id, task.created_by from private.claim_tasks('w1', 6, 30) as claim join public.tasks as task on task.id = claim.task_id;
select is((select count(*) from claimed)::int, 6, 'the requested number of tasks is claimed');
select is((select count(*) from claimed where created_by = tests.user_id('drop'))::int, 2, 'the small owner does not wait for the others');
select is((select count(*) from claimed where created_by is null)::int, 1, 'the service does not wait either');
select results_eq(
  $$select place from claimed join line using (id) where created_by = tests.user_id('flood') order by 1$$,
  'select place from line order by 1 limit 3',
  'each owner''s tasks keep their order'
);

select * from finish();
rollback;
