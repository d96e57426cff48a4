begin;
set local search_path = public, extensions;
select plan(2);

select tests.create_task(p_owner => 'flood') from generate_series(1, 200);
-- The planner then knows that every task is waiting.
analyze public.tasks;

create temp table fetched on commit drop as
  select idx_tup_fetch as row_count from pg_stat_xact_user_tables where relid = 'public.tasks'::regclass;
create temp table picked on commit drop as select * from private.pick_of_only_owner(3, p_of_users => true) as id;
select is((select count(*) from picked)::int, 3, 'the tasks of the only owner are picked');
select cmp_ok(
  (select idx_tup_fetch from pg_stat_xact_user_tables where relid = 'public.tasks'::regclass)
    - (select row_count from fetched),
  '<', 50::bigint,
  'with 200 waiting tasks, only a few are read'
);

select * from finish();
rollback;
