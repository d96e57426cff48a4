begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_agent('planner');
create function pg_temp.hint(p_agent text, p_overlap text default 'skip', p_zone text default 'UTC') returns text language plpgsql as $$
declare
  v_hint text;
begin
  insert into public.schedules (agent, input, cron, overlap, time_zone) values (p_agent, '{}', '@daily', p_overlap, p_zone);
  return null;
exception when others then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end;
$$;

select matches(pg_temp.hint('plannr'), '^Did you mean "planner"\?', 'a similar agent is suggested');
select matches(pg_temp.hint('zzz'), '^Read the slugs', 'without a similar one there is no question');
select matches(pg_temp.hint('planner', 'skipp'), '^Did you mean "skip"\? Allowed values are skip, queue', 'overlap is one of two');
select matches(pg_temp.hint('planner', p_zone => 'Europe/Berln'), '^Did you mean "Europe/Berlin"', 'a similar time zone is suggested');

select is(
  tests.code_of($$insert into public.schedules (agent, input, cron, overlap) values ('planner', '{}', '@daily', 'later')$$),
  'SCHEDULE_INVALID', 'with a code'
);

select * from finish();
rollback;
