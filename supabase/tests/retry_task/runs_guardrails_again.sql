begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('owner');
create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
create function pg_temp.add(p_seq int, p_kind text, p_state text, p_input jsonb default null) returns void language sql as $$
  insert into public.task_steps (task_id, seq, kind, state, name, call_id, input, output, epoch, ended_at)
  select id, p_seq, p_kind, p_state, 'check', case p_kind when 'guardrail' then 'g' || p_seq end, p_input,
    case p_state when 'started' then null else '{}'::jsonb end, 1,
    case p_state when 'started' then null else now() end
  from made
$$;
create function pg_temp.check_at(p_seq int, p_stage text, p_state text, p_message int) returns void language sql as $$
  select pg_temp.add(p_seq, 'guardrail', p_state,
    jsonb_build_object('stage', p_stage, 'server', 's', 'index', 0, 'message_seq', p_message))
$$;
create function pg_temp.retry() returns text language plpgsql as $$
begin
  update public.tasks set status = 'failed', error = '{}', finished_at = now() where id = (select id from made);
  perform private.retry_task((select id from made));
  return (select string_agg(kind || ' ' || seq, ', ' order by seq) from public.task_steps where task_id = (select id from made));
end;
$$;

select pg_temp.add(1, 'model', 'started'), pg_temp.check_at(2, 'input', 'failed', 0), pg_temp.check_at(3, 'input', 'done', 0);
select is(pg_temp.retry(), 'model 1', 'a refused input is checked again by all guardrails');

select pg_temp.check_at(2, 'input', 'done', 0);
update public.task_steps set state = 'done', output = '{"text": "x"}', ended_at = now() where seq = 1;
select pg_temp.check_at(3, 'output', 'failed', 0);
select is(pg_temp.retry(), 'model 1, guardrail 2', 'a refused result is checked again too; results that the model has already answered stay checked');

select pg_temp.check_at(3, 'output', 'done', 0), pg_temp.add(4, 'user', 'done', '"Go on"'), pg_temp.check_at(6, 'input', 'done', 4);
select pg_temp.add(5, 'model', 'done', '{"summarizes_through": 3}');
select is(pg_temp.retry(), 'model 1, guardrail 2, guardrail 3, user 4, model 5', 'a summary does not count as an answer');

select is(
  tests.code_of(format('select private.fork_task(%L, 4, ''{"input": "another"}'')', (select id from made))),
  'FORK_CHANGES_INVALID', 'a fork cannot put another input below verdicts about the first'
);
select is(tests.code_of(format('select private.fork_task(%L, 1, ''{"input": "another"}'')', (select id from made))), 'none', 'a fork from the beginning checks the input again');

select * from finish();
rollback;
