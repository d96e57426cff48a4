begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_task(p_owner => 'flood') from generate_series(1, 200);
-- The planner then knows that every task is waiting.
analyze public.tasks;

create function pg_temp.rows_read_by(p_statement text) returns bigint language plpgsql as $$
declare
  v_before constant bigint := (select idx_tup_fetch from pg_stat_xact_user_tables where relid = 'public.tasks'::regclass);
begin
  execute p_statement;
  return (select idx_tup_fetch from pg_stat_xact_user_tables where relid = 'public.tasks'::regclass) - v_before;
end;
$$;

create temp table picked on commit drop as
  select pg_temp.rows_read_by('create temp table id on commit drop as select private.next_tasks(3, true, true, false)') as row_count;
select is((select count(*) from id)::int, 3, 'the tasks of the only owner are picked');
select cmp_ok((select row_count from picked), '<', 20::bigint, 'with 200 waiting tasks, only a few are read');

insert into private.concurrency_limits values ('full', 0);
update public.tasks set concurrency_key = 'full' where id not in (select id from public.tasks order by id desc limit 2);
create temp table picked_of_keys on commit drop as
  select pg_temp.rows_read_by('create temp table free on commit drop as select private.next_tasks(3, true, true, true)') as row_count;
select is((select count(*) from free)::int, 2, 'with a full key, the tasks without it are picked');
select cmp_ok(
  (select row_count from picked_of_keys), '<', 20::bigint, 'the long line behind a full key is not read'
);

select * from finish();
rollback;
