begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_agent('worker-agent'), tests.create_user('owner');
insert into public.schedules (created_by, name, agent, input, cron)
select tests.user_id('owner'), name, 'worker-agent', '"x"', '* * * * *' from unnest(array['first', 'second']) as name;
update public.schedules set next_run_at = now() - interval '1 minute' * case name when 'first' then 2 else 1 end;
create function pg_temp.refuse() returns trigger language plpgsql as $$ begin raise 'This row is broken'; end $$;
create trigger refuse before update on public.schedules for each row when (old.name = 'first')
  execute function pg_temp.refuse();

select lives_ok('select private.run_due_schedules()', 'a schedule that cannot be written');

select results_eq(
  'select name, run_count from public.schedules order by name', $$values ('first', 0::bigint), ('second', 1)$$,
  'the other schedule runs'
);
select results_eq(
  'select routine, last_row_id from public.maintenance_failures',
  $$select 'run_due_schedules', id::text from public.schedules where name = 'first'$$, 'operators see the failure'
);

select * from finish();
rollback;
