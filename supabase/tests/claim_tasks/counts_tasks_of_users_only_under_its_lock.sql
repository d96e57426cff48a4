begin;
set local search_path = public, extensions;
select plan(5);

-- A claim that finds only tasks of the service takes no lock, so it must not count and pick a user's.
select tests.create_agent('worker-agent');
select private.create_task('worker-agent', '{}') from generate_series(1, 2);
select is(
  (select count(*) from private.pick_tasks(5, p_of_users => false, p_has_key_limits => false))::int, 2,
  'tasks of the service need no lock'
);

select tests.create_user('ada');
select tests.create_task(p_owner => 'ada');
select is_empty(
  'select private.pick_tasks(5, p_of_users => false, p_has_key_limits => false)',
  'without the lock nothing is picked while a user''s task waits'
);
select is(
  (select count(*) from private.pick_tasks(5, p_of_users => true, p_has_key_limits => false))::int, 3,
  'with the lock all are picked'
);

update public.tasks set works_alone = true where created_by = tests.user_id('ada');
select is_empty(
  'select private.pick_lone(p_of_users => false)', 'without the lock no user''s task that works alone is picked'
);
select is((select count(*) from private.pick_lone(p_of_users => true))::int, 1, 'with the lock it is');

select * from finish();
rollback;
