begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('other'), tests.create_row_trigger('{"events": ["insert", "update"], "owner_column": "user_id"}');
insert into private.quotas (name, user_id, amount) values ('task_creations_per_minute', tests.user_id('owner'), 2);
insert into public.orders (id, user_id) select n, tests.user_id('owner') from generate_series(1, 5) as n;
insert into public.orders (id, user_id) values (6, tests.user_id('other'));
select private.start_row_jobs();
select is((select count(*) from public.tasks)::int, 3, 'a quota stops the starts of its owner only');
select is((select count(*) from private.row_starts where error is null)::int, 3, 'which wait, and do not fail');
select is(private.start_row_jobs(), 0, 'until the quota says so');
select tests.create_user('operator'), public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
select tests.act_as_user('operator');
select results_eq('select status, code, trigger, row_key from public.operator_row_starts', $$values
  ('postponed', 'QUOTA_EXCEEDED', 'orders', '3'), ('postponed', 'QUOTA_EXCEEDED', 'orders', '4'), ('postponed', 'QUOTA_EXCEEDED', 'orders', '5')$$,
  'operators see the reason');
select tests.act_as_nobody();
update private.row_start_pauses set until = clock_timestamp();
update private.quota_minutes set began_at = began_at - interval '1 minute';
select is(private.start_row_jobs(), 2, 'then as many start as there is room for');
select is((select count(*) from public.tasks)::int, 5, 'each once');
delete from private.row_starts;
delete from private.row_start_pauses;

select tests.create_row_trigger('{"events": ["update"], "input": {"total": "total"}, "debounce_seconds": 60}');
update public.orders set total = 1 where id = 6;
update public.orders set total = 2 where id = 6;
update public.orders set total = 3 where id = 6;
select is(private.start_row_jobs(), 0, 'a debounced start waits');
update private.row_starts set due_at = due_at - interval '61 seconds';
delete from public.tasks;
select private.start_row_jobs();
select results_eq('select input::text from public.tasks', array['{"total": 3}'], 'several changes of a row start one job, with the last of them');
select is((select count(*) from private.row_starts)::int, 0, 'and leave no start');

select * from finish();
rollback;
