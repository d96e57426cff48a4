begin;
set local search_path = public, extensions;
select plan(11);

select tests.create_user('owner'), tests.create_row_trigger('{"events": ["insert", "update"], "owner_column": "user_id", "max_per_hour": 3}');
insert into public.orders (id, user_id) values (1, tests.user_id('owner')), (2, null);
select is(private.start_row_jobs(), 2, 'each start is handled');
select results_eq('select created_by, input::text, metadata #>> ''{trigger,row}'' from public.tasks order by metadata::text',
  $$values (tests.user_id('owner'), '{"order": 1}', '1'), (null, '{"order": 2}', '2')$$, 'and is a job of its owner');
select is((select (metadata -> 'trigger') - 'row' from public.tasks limit 1), '{"name": "orders", "table": "orders", "event": "insert"}', 'which says what started it');
select is((select count(*) from private.row_starts)::int, 0, 'no start is left');
select is(private.start_row_jobs(), 0, 'so that none starts twice');

update public.orders set status = 'a' where id = 2;
update public.orders set status = 'b' where id = 2;
update public.orders set status = 'c' where id = 2;
select private.start_row_jobs();
select results_eq('select error ->> ''code'' from private.row_starts', array['TRIGGER_LIMIT_REACHED'], 'a row starts no more jobs in an hour than it may');

delete from private.row_starts;
update public.agents set is_active = false where slug = 'worker-agent';
insert into public.orders (id) values (3);
select private.start_row_jobs();
select results_eq('select error ->> ''code'' from private.row_starts', array['AGENT_INACTIVE'], 'what cannot start keeps the reason');
select is(private.start_row_jobs(), 0, 'and is not tried again by itself');
update public.agents set is_active = true where slug = 'worker-agent';
delete from private.row_starts;

insert into public.orders (id, user_id) values (4, gen_random_uuid());
select private.start_row_jobs();
select results_eq('select error ->> ''code'' from private.row_starts', array['FORBIDDEN'], 'an owner without an account starts nothing');
delete from private.row_starts;
insert into public.orders (id, user_id) values (5, tests.user_id('owner'));
delete from auth.users where id = tests.user_id('owner');
select is((select count(*) from private.row_starts)::int, 0, 'starts are deleted with their owner''s account');
select tests.create_row_trigger('{"events": ["insert"], "input": null}');
insert into public.orders (id, status) values (6, repeat('x', 1100000));
select private.start_row_jobs();
select results_eq('select error ->> ''code'' from private.row_starts', array['TASK_INPUT_INVALID'], 'an input that no job may have is refused');

select * from finish();
rollback;
