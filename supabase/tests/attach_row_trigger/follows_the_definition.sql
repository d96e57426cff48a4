begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_row_trigger();
create table public.other (id int primary key, status text);
create function pg_temp.attached() returns text language sql as $$
  select coalesce(string_agg(tgrelid::regclass || ' ' || substring(tgname from 'supaswarm_(\w+?)_'), ', ' order by tgrelid::regclass::text, tgname), '')
  from pg_trigger where tgfoid = 'private.record_row_starts()'::regprocedure
$$;
select is(pg_temp.attached(), 'orders delete, orders insert, orders update', 'a table gets one trigger for each event');
select tests.create_row_trigger('{"events": ["update"]}');
select is(pg_temp.attached(), 'orders update', 'and loses those of other events');
create temp table before as select oid from pg_trigger where tgname ~ '^supaswarm_update';
select tests.create_row_trigger('{"events": ["update"], "conditions": [{"column": "status", "op": "is_null"}]}');
select is((select oid from pg_trigger where tgname ~ '^supaswarm_update'), (select oid from before), 'a changed condition leaves the trigger alone');
select tests.create_row_trigger('{"table": "other", "events": ["update"], "input": {"it": "id"}}');
select is(pg_temp.attached(), 'other update', 'it moves with the table');
select tests.create_row_trigger('{"table": "other", "events": ["update"], "input": {"it": "id"}, "is_active": false}');
select is(pg_temp.attached(), '', 'an inactive one has none');
select tests.create_row_trigger('{"events": ["insert"]}');
insert into public.orders (id) values (1);
update public.row_triggers set is_active = false;
select is((select error ->> 'code' from private.row_starts), 'TRIGGER_INACTIVE', 'starts of a trigger that is deactivated fail');
select tests.create_row_trigger('{"events": ["insert"]}');
drop table public.orders cascade;
select tests.create_row_trigger('{"table": "other", "events": ["insert"]}');
select is(pg_temp.attached(), 'other insert', 'after its table was dropped, it can be saved for another');
alter table public.other rename to renamed;
select private.remove_definition('trigger', 'orders');
select is(pg_temp.attached(), '', 'its removal drops the trigger of a renamed table');
select is((select count(*) from private.row_starts)::int + (select count(*) from private.row_trigger_statements)::int, 0, 'and leaves nothing');

select * from finish();
rollback;
