begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_row_trigger('{"columns": ["status"]}');
create function pg_temp.problems() returns text language sql as $$
  select coalesce(string_agg(name || ' ' || field || ' ' || problem, '; ' order by field, problem), '')
  from private.configuration_problems() where kind = 'trigger'
$$;
select is(pg_temp.problems(), '', 'a trigger that works has none');
alter table public.orders rename column status to state;
select is(pg_temp.problems(), 'orders columns names the column "status", which the table does not have', 'a renamed column');
alter table public.orders rename column state to status;
alter table public.orders rename to sales;
select is(pg_temp.problems(), 'orders table is "orders", and there is no such table', 'a renamed table');
alter table public.sales rename to orders;
alter table public.orders disable trigger all;
select is(pg_temp.problems(), 'orders table has no active trigger for insert, update, delete: it was dropped, or disabled, or the table was created again',
  'a disabled trigger');
select private.write_row_trigger('orders', private.definition_of('trigger', 'orders'));
select is(pg_temp.problems(), '', 'a push of the same definition creates it again');
drop table public.orders;
select is(pg_temp.problems(), 'orders table is "orders", and there is no such table', 'a dropped table');
select is((select problem from private.installation_checks() where claim = 'Row triggers start their jobs'),
  'orders: table is "orders", and there is no such table', 'the doctor says it too');
update public.row_triggers set is_active = false;
select is(pg_temp.problems(), '', 'an inactive trigger has no problem, and can be deactivated without its table');

select * from finish();
rollback;
