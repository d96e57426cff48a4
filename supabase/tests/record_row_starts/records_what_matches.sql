begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_row_trigger('{"columns": ["status"], "conditions": [{"column": "status", "op": "eq", "value": "paid"}]}');
create function pg_temp.starts() returns text language sql as $$
  select coalesce(string_agg(event || ' ' || row_key || ' ' || coalesce(input::text, error ->> 'message'), ', ' order by id), '') from private.row_starts
$$;

insert into public.orders (id, status) values (1, 'new'), (2, 'paid'), (3, 'new');
select is(pg_temp.starts(), 'insert 2 {"order": 2}', 'of a statement, the rows that match');
delete from private.row_starts;
update public.orders set total = 5;
select is(pg_temp.starts(), '', 'an update that changes no named column starts nothing');
update public.orders set status = status;
select is(pg_temp.starts(), '', 'nor does one that writes the same value');
update public.orders set status = 'paid';
select is(pg_temp.starts(), 'update 1 {"order": 1}, update 3 {"order": 3}', 'of an update, the rows whose column has changed');
delete from private.row_starts;
update public.orders set id = 20 where id = 2;
select is(pg_temp.starts(), 'update 20 {"order": 20}', 'a changed primary key counts as a change of every column');
delete from private.row_starts;
delete from public.orders where id in (1, 20);
select is(pg_temp.starts(), 'delete 1 {"order": 1}, delete 20 {"order": 20}', 'deleted rows count as they were');
delete from private.row_starts;

insert into public.orders (id, status) values (3, 'paid'), (4, 'paid')
  on conflict (id) do update set status = 'new';
select is(pg_temp.starts(), 'insert 4 {"order": 4}', 'an upsert is an insert of some rows and an update of others');
delete from private.row_starts;
savepoint change;
update public.orders set status = 'paid';
rollback to savepoint change;
select is(pg_temp.starts(), '', 'a change that is rolled back starts nothing');
select tests.create_row_trigger('{"input": null, "columns": ["raw"], "events": ["update"]}');
update public.orders set raw = '{"a":1}', status = 'sent' where id = 4;
select is((select input #>> '{old,status}' || ' ' || (input #>> '{row,status}') || ' ' || (input ->> 'event') from private.row_starts),
  'paid sent update', 'without a mapping, a job gets the row and what it was, also with columns that cannot be compared');

select * from finish();
rollback;
