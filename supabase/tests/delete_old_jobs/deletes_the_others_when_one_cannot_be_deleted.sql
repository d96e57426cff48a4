begin;
set local search_path = public, extensions;
select plan(3);

insert into private.settings (key, value) values ('keep_jobs_days', '1');
create temp table made on commit drop as select n, tests.create_task() as id from generate_series(1, 3) as n;
update public.tasks set status = 'completed', finished_at = now() - interval '2 days';
create table referring (task_id uuid references public.tasks (id));
insert into referring select id from made where n = 2;
create or replace function private.delete_old_events(p_limit int) returns int language plpgsql as $$ begin raise 'broken'; end $$;

select is(private.delete_old(), '{"jobs": 2, "events": 0, "executions": 0, "sessions": 0, "usage": 0, "tool_days": 0, "confirmations": 0, "row_starts": 0}'::jsonb, 'a failure stops only its own part');

select is((select array_agg(n) from made join public.tasks using (id)), array[2], 'the other jobs are deleted');
select results_eq(
  'select routine, last_row_id, last_error_code from public.maintenance_failures order by routine',
  $$select 'delete_old_events', null, 'P0001' union all select 'delete_old_job', id::text, '23503' from made where n = 2$$,
  'operators see both failures'
);

select * from finish();
rollback;
