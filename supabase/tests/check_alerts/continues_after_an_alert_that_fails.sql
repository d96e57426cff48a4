begin;
set local search_path = public, extensions;
select plan(3);

insert into public.alerts (name, measure, above) values ('broken', 'cost_usd', 1), ('dead', 'dead_letters', 0);
create or replace function private.cost_usd_since(p_since timestamptz, p_agent text) returns numeric language plpgsql as $$
begin
  raise 'This measure is broken';
end;
$$;
insert into private.dead_letters (task_id, reason, error) values (tests.create_task(), 'attempts_exhausted', '{}');

select lives_ok('select private.tick()', 'a tick with an alert that cannot be measured');
select results_eq(
  $$select name from public.alerts where raised_at is not null$$, $$values ('dead')$$, 'the other alert is raised'
);
select results_eq(
  $$select routine, last_row_id, last_error_message from public.maintenance_failures$$,
  $$select 'measure_alert', id::text, 'This measure is broken' from public.alerts where name = 'broken'$$,
  'operators see which alert failed, and why'
);

select * from finish();
rollback;
