begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_user('owner'), tests.create_user('stranger');
select tests.create_row_trigger('{"input": null, "starts_per": "statement", "events": ["insert"], "owner_column": "user_id"}');
insert into public.orders (id, user_id) values (1, tests.user_id('owner')), (2, null), (3, tests.user_id('owner'));
select results_eq('select input::text from private.row_starts order by input::text', array[
  '{"rows": [{"id": 1}, {"id": 3}], "event": "insert", "table": "orders"}', '{"rows": [{"id": 2}], "event": "insert", "table": "orders"}'],
  'one for each owner, with the keys of the rows');
delete from private.row_starts;
insert into public.orders (id) select generate_series(1001, 3500);
select results_eq('select jsonb_array_length(input -> ''rows'') from private.row_starts order by 1', array[500, 1000, 1000], 'of 1,000 rows at most');
delete from private.row_starts;
insert into public.orders (id) select 1 where false;
select is((select count(*) from private.row_starts)::int, 0, 'a statement without rows starts nothing');
select tests.create_row_trigger('{"input": {"sum": "total"}, "starts_per": "statement", "events": ["insert"]}');
insert into public.orders (id, total) values (10, 5);
select is((select input -> 'rows' from private.row_starts), '[{"sum": 5}]', 'a mapping says what each row adds');

select * from finish();
rollback;
