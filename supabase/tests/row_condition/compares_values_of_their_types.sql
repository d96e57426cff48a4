begin;
set local search_path = public, extensions;
select plan(15);

select tests.create_row_trigger();
create function pg_temp.matches(p_conditions jsonb) returns text language plpgsql as $$
begin
  delete from private.row_starts;
  delete from public.orders;
  perform tests.create_row_trigger(jsonb_build_object('events', '["insert"]'::jsonb, 'conditions', p_conditions));
  insert into public.orders (id, status, total, paid_at, is_gift, data) values
    (1, 'new', 5, null, false, '{"a": 1}'), (2, 'paid', 10, '2026-05-01', true, '"x"'), (3, null, 20, '2026-06-01', null, null);
  return (select coalesce(string_agg(row_key, ' ' order by id), '') from private.row_starts);
end;
$$;
select is(pg_temp.matches('[{"column": "status", "op": "eq", "value": "paid"}]'), '2', 'eq');
select is(pg_temp.matches('[{"column": "status", "op": "neq", "value": "paid"}]'), '1 3', 'neq, also for null');
select is(pg_temp.matches('[{"column": "total", "op": "gt", "value": 10}]'), '3', 'gt');
select is(pg_temp.matches('[{"column": "total", "op": "gte", "value": 10}]'), '2 3', 'gte');
select is(pg_temp.matches('[{"column": "total", "op": "lt", "value": 10.5}]'), '1 2', 'lt');
select is(pg_temp.matches('[{"column": "paid_at", "op": "lte", "value": "2026-05-01"}]'), '2', 'lte of a time');
select is(pg_temp.matches('[{"column": "status", "op": "in", "value": ["new", "paid"]}]'), '1 2', 'in');
select is(pg_temp.matches('[{"column": "id", "op": "in", "value": [1, 3]}]'), '1 3', 'in, of numbers');
select is(pg_temp.matches('[{"column": "status", "op": "is_null"}]'), '3', 'is_null');
select is(pg_temp.matches('[{"column": "paid_at", "op": "not_null"}]'), '2 3', 'not_null');
select is(pg_temp.matches('[{"column": "is_gift", "op": "eq", "value": true}]'), '2', 'a boolean');
select is(pg_temp.matches('[{"column": "data", "op": "eq", "value": {"a": 1}}]'), '1', 'a JSON object');
select is(pg_temp.matches('[{"column": "data", "op": "in", "value": ["x"]}]'), '2', 'a JSON text');
select is(pg_temp.matches('[{"column": "total", "op": "gt", "value": 5}, {"column": "status", "op": "not_null"}]'), '2', 'all must hold');
select is(pg_temp.matches(jsonb_build_array(jsonb_build_object('column', 'status', 'op', 'eq', 'value', ''' or true --'))), '',
  'a value is never SQL');

select * from finish();
rollback;
