begin;
set local search_path = public, extensions;
select plan(26);
select tests.create_user(name) from unnest(array['operator', 'colleague', 'stranger']) as name;
select public.grant_scopes(tests.user_id(name), '{swarm:operate}') from unnest(array['operator', 'colleague']) as name;
insert into public.mcp_grants (user_id, client_id, scopes) values (tests.user_id('operator'), 'an-app', '{swarm:operate}');
create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
create temp table other on commit drop as select tests.create_task() as id;
grant select on made, child, other to authenticated, service_role;
update public.tasks set storage_paths = array[(select id from made) || '/' || id || '/report.md'] where id = (select id from child);
insert into public.mcp_executions (mcp_name, tool_name, user_id, task_id, execution_time_ms, status)
  select 'notes', 'find', tests.user_id('owner'), id, 5, 'success' from child;
create function pg_temp.path() returns text language sql as $$
  select format('%s/%s/report.md', made.id, child.id) from pg_temp.made, pg_temp.child
$$;
-- Everything by which an operator reads a job.
create function pg_temp.codes() returns text[] language sql as $$
  select array_agg(distinct tests.code_of(format(way.statement, child.id)))
  from pg_temp.child, unnest(array[
    'select * from public.operator_tasks(%L)', 'select * from public.operator_steps(%L)',
    'select * from public.operator_events(%L)', 'select * from public.operator_calls(%L)', 'select public.read_events(%L)', 'select * from public.read_trace(%L)',
    'select * from public.list_forks(%L)', 'select * from public.list_repeats(%L)', 'select * from public.list_operator_acts(%L)',
    'select public.read_answer(%L)', 'select public.watch_task(%L)'
  ]) as way (statement)
$$;

select tests.act_as_user('operator');
select is(pg_temp.codes(), '{JOB_NOT_OPENED}', 'an operator reads nothing of a job that is not open');
select ok(not private.is_opened_job_file(pg_temp.path()), 'nor its files');
select is(
  tests.code_of(format('select public.operator_open_job(%L, %L)', (select id from made), reason)), 'REASON_INVALID',
  'a reason of ' || coalesce(length(reason), 0) || ' characters is refused'
)
from unnest(array[null, '', E' \n ', repeat('x', 2001), repeat(U&'\200B', 20), U&'\2800\3164\FEFF', U&'\202E \00A0\00AD', E'\U000E0041\u2060\u0001']) as reason;
select is(
  tests.code_of(format('select public.operator_open_job(%L, %L)', gen_random_uuid(), 'why')), 'TASK_NOT_FOUND',
  'an unknown job cannot be opened'
);
select ok(
  public.operator_open_job((select id from child), ' It failed ') - clock_timestamp() between interval '59 minutes' and interval '1 hour',
  'a task opens its whole job, for one hour'
);
select is(pg_temp.codes(), '{none}', 'the operator reads all of it');
select set_eq('select id from public.operator_tasks((select id from child))', 'select id from made union select id from child', 'every task');
select isnt_empty('select from public.operator_steps((select id from made))', 'the steps of a task');
select isnt_empty('select from public.operator_events((select id from made))', 'the events');
select results_eq(
  'select mcp_name, feedback_token from public.operator_calls((select id from child))', $$values ('notes', null::uuid)$$,
  'the calls of a task, without the tokens to grade them'
);
select ok(private.is_opened_job_file(pg_temp.path()), 'and the files');
select is_empty('select from public.tasks', 'the owners'' tables remain unavailable');
select is(
  tests.code_of('select * from public.operator_tasks((select id from other))'), 'JOB_NOT_OPENED', 'another job stays closed'
);
select tests.act_as_user('colleague');
select is(pg_temp.codes(), '{JOB_NOT_OPENED}', 'it is not open to another operator');
select tests.act_as_user('operator');
select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || '{"client_id": "an-app"}')::text, true);
select is(pg_temp.codes(), '{JOB_NOT_OPENED}', 'nor to an OAuth client of the operator');
select tests.act_as_nobody();

update private.operator_acts
set details = jsonb_build_object('open_until', (details ->> 'open_until')::timestamptz - interval '1 hour');
select tests.act_as_user('operator');
select is(pg_temp.codes(), '{JOB_NOT_OPENED}', 'after an hour it is closed');
select tests.act_as_user('stranger');
select is(
  tests.code_of('select public.operator_open_job((select id from made), ''why'')'), 'INSUFFICIENT_SCOPE',
  'a user who is not an operator opens nothing'
);
select tests.act_as_nobody();

select tests.act_as_nobody();
select is(private.given_reason('open it', reason), 'Wegen ' || U&'\0645\200C\0645', 'a reason keeps its letters and joiners')
from unnest(array['Wegen ' || U&'\0645\200C\0645', U&'\200B\202E' || 'Wegen ' || U&'\0645\200C\0645\200B']) as reason;
select * from finish();
rollback;
