begin;
set local search_path = public, extensions;
select plan(7);

create function public.one(result int, given text default 'x') returns text language sql as $$ select given || result $$;
create function public.row_of(result int, out a int, out b text) language sql as $$ select result + 1, 'b' $$;
create function public.columns() returns table (result int, note text) language sql as $$ values (1, 'a'), (2, 'b') $$;
create function public.list(result int) returns setof int language sql as $$ select result + n from generate_series(1, 3) as n $$;
create function public.nothing(result int) returns void language sql as $$ select null::void $$;
create function pg_temp.call(p_function text, p_arguments jsonb default '{}') returns jsonb language plpgsql as $$
declare
  v_results jsonb;
begin
  execute format('select jsonb_agg(called.result) from (%s) as called', private.tool_function_statement(p_function, p_arguments, 2))
  into v_results using p_arguments;
  return v_results;
end $$;

select is(pg_temp.call('public.one', '{"result": 1}'), '["x1"]', 'an argument may be named like the result');
select is(pg_temp.call('public.one', '{"result": 1, "given": "y"}'), '["y1"]', 'or like the arguments');
select is(pg_temp.call('public.row_of', '{"result": 1}'), '[{"a": 2, "b": "b"}]', 'a row is the function''s, not the argument');
select is(pg_temp.call('public.columns'), '[{"result": 1, "note": "a"}, {"result": 2, "note": "b"}]', 'a row has all its columns');
select is(pg_temp.call('public.list', '{"result": 1}'), '[2, 3]', 'a list ends at the most rows');
select is(pg_temp.call('public.nothing', '{"result": 1}'), '[null]', 'void is null');
select is(pg_temp.call('public.one', '{"result": null}'), '[null]', 'so is null');

select * from finish();
rollback;
