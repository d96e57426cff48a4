begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_user('owner'), tests.create_row_trigger('{"events": ["insert"], "conditions": [{"column": "status", "op": "eq", "value": "paid"}]}');
create function pg_temp.starts() returns text language sql as $$
  select coalesce(string_agg(coalesce(error ->> 'code', input::text) || ': ' || coalesce(error ->> 'message', ''), ', ' order by id), '') from private.row_starts
$$;

alter table public.orders rename column status to state;
select lives_ok($$insert into public.orders (id, state) values (1, 'paid')$$, 'a change succeeds although the trigger names a column that was renamed');
insert into public.orders (id, state) values (2, 'paid');
select is(pg_temp.starts(), 'TRIGGER_INVALID: Cannot read the changed rows: column changed_row.status does not exist', 'the reason is recorded once');
delete from private.row_starts;
alter table public.orders rename column state to status;
insert into public.orders (id, status) values (3, 'paid');
select is(pg_temp.starts(), '{"order": 3}: ', 'later changes start jobs again');
delete from private.row_starts;

select tests.create_row_trigger('{"events": ["insert"], "key": ["status"]}');
select lives_ok($$insert into public.orders (id, status) values (4, null), (5, repeat('x', 100000))$$, 'a key may be null, or long');
select results_eq('select row_key from private.row_starts order by id', array['', md5(repeat('x', 100000))], 'which then has a hash');
delete from private.row_starts;

update private.quotas set amount = 2 where name = 'waiting_tasks';
select tests.act_as_user('owner');
insert into public.orders (id) values (6), (7);
insert into public.orders (id) values (8);
insert into public.orders (id) values (9);
select tests.act_as_nobody();
select results_eq('select coalesce(error ->> ''code'', row_key) from private.row_starts order by id', array['', '', 'QUOTA_EXCEEDED'],
  'a user records no more starts than tasks may wait, and the refusal once');
select is((select count(*) from public.orders)::int, 9, 'all rows are there');

select * from finish();
rollback;
