begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
update public.agents set input_schema = '{"type": "object", "properties": {"question": {"type": "string"}},
  "required": ["question"], "additionalProperties": false}' where slug = 'worker-agent';

select tests.act_as_user('owner');
create function pg_temp.code_of_fork(p_input jsonb) returns text language sql as $$
  select tests.code_of(format('select public.fork_task((select id from made), 1, %L)', jsonb_build_object('input', p_input)))
$$;
select is(pg_temp.code_of_fork('{"question": 7}'), 'TASK_INPUT_INVALID', 'the input has to match the schema of the agent');
select is(pg_temp.code_of_fork('{"question": "Which?", "files": ["nobody/report.pdf"]}'), 'FILE_NOT_FOUND',
  'its files have to be usable');
select is(pg_temp.code_of_fork('{"question": "Which?"}'), 'none', 'a matching input is accepted');

select * from finish();
rollback;
