begin;
select plan(9);
create type public.mood as enum ('calm');
create table public.folk (id int, mood public.mood);
create function public.of_folk(folk, int default 1) returns text language sql as 'select ''x''';
create function public.json_value(text, text) returns text language sql as 'select ''x''';
create function public.mood_text(mood) returns varchar language sql as 'select ''x''::varchar';
create cast (public.mood as varchar) with function public.mood_text(mood) as implicit;
create function public.fits(text) returns boolean language sql as 'select true';
create domain public.plain as text check (public.fits(value));
create function pg_temp.found(p_names jsonb) returns text[] language sql as $$
  select array(select private.unlisted_calls(
    '{"schemas": ["public"], "opted_in": [], "functions": [], "called": [], "row_attributes": [], "attributes": [], "built_in": [], "operators": [], "types": [], "relations": [], "makes_rows": false}'
    || p_names) as name order by name)
$$;

select is(pg_temp.found('{"functions": ["lower", "json_value"]}'), '{function public.json_value}', 'a function of the name');
select is(pg_temp.found('{"functions": ["json_value"], "opted_in": ["public.json_value"]}'), '{}', 'not one of the policy');
select is(pg_temp.found('{"row_attributes": ["of_folk", "id"]}'), '{function public.of_folk}', 'a function of a row, with a default');
select is(pg_temp.found('{"row_attributes": ["pg_sleep"]}'), '{}', 'a row is no argument of a built-in function of numbers');
select is(pg_temp.found('{"attributes": ["pg_sleep", "upper"], "built_in": ["upper"]}'), '{function pg_catalog.pg_sleep}', 'a built-in function of a value');
select is(pg_temp.found('{"relations": ["folk"]}'), array['cast from public.mood to character varying'], 'a cast of a column');
select is(pg_temp.found('{"types": ["mood"]}'), array['cast from public.mood to character varying'], 'a cast of a named type');
select is(pg_temp.found('{"types": ["plain"]}'), array['check of the domain public.plain'], 'the check of a domain');
select is(pg_temp.found('{"relations": ["pg_class"], "types": ["text"]}'), '{}', 'nothing in built-in names');

select * from finish();
rollback;
