begin;
set local search_path = public, extensions;
select plan(7);

create function public.of_any(value anyelement) returns text language sql as $$ select 'x' $$;
create function public.of_record(value record) returns text language plpgsql as $$ begin return 'x'; end $$;
create function public.trigger_function() returns trigger language plpgsql as $$ begin return new; end $$;
create function public.unknown_columns() returns setof record language sql as $$ select 1, 2 $$;
create function public.known_columns(out a int, out b int) language sql as $$ select 1, 2 $$;
create function public.procedure_like(value int) returns void language sql as $$ select null::void $$;
create function pg_temp.problem_of(p_function text) returns text language plpgsql as $$
begin
  perform private.find_tool_function(p_function);
  return null;
exception when others then
  return substring(sqlerrm from 'as a tool: (.*)$');
end $$;

select is(pg_temp.problem_of('public.of_any'), 'an argument can have any type', 'a polymorphic argument has no type to convert to');
select is(pg_temp.problem_of('public.of_record'), 'an argument can have any type', 'neither has a row of any type');
select is(pg_temp.problem_of('public.trigger_function'), 'it is for triggers', 'only a trigger calls a trigger function');
select is(pg_temp.problem_of('public.unknown_columns'), 'its result has no declared columns', 'a call would have to name the columns');
select is(pg_temp.problem_of('public.known_columns'), null, 'columns may be arguments for output');
select is(pg_temp.problem_of('public.procedure_like'), null, 'void is a result');
select is(pg_temp.problem_of('public.missing'), 'it does not exist', 'a missing function is named');

select * from finish();
rollback;
