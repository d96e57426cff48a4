begin;
set local search_path = public, extensions;
select plan(11);

create temp table made on commit drop as select tests.create_task() as id;
select tests.create_user('stranger');
grant select on made to authenticated, anon;
create function pg_temp.repeat(p_user text, p_source uuid, p_key text default null) returns uuid language sql
  as $$ select created.task_id from public.tasks as source, private.request_task(
      jsonb_build_object('actor', 'user', 'user_id', tests.user_id(p_user)),
      jsonb_strip_nulls(jsonb_build_object('agent', source.agent_slug, 'input', 'Go', 'repeat_of', p_source, 'idempotency_key', p_key)),
      null, null) as created
    where source.id = (select id from made) $$;
create temp table repeated on commit drop as
  select pg_temp.repeat('owner', (select id from made), 'once') as id;
grant select on repeated to authenticated;
select is(pg_temp.repeat('owner', (select id from made), 'once'), id, 'the same request repeats the job once') from repeated;
select is(tests.code_of(format('select pg_temp.repeat(%L, %L)', 'stranger', id)), 'TASK_NOT_FOUND', 'nobody repeats the job of somebody else')
from made;
select is(tests.code_of(format('select pg_temp.repeat(%L, %L)', 'owner', gen_random_uuid())), 'TASK_NOT_FOUND', 'nor a missing one');
select is(tests.code_of(format($$select private.request_task('{"actor": "agent", "task_id": "%s"}',
  '{"agent": "a", "input": "Go", "repeat_of": "%s"}', null, null)$$, id, id)), 'AGENT_NOT_ALLOWED', 'nor does an agent')
from made;

select tests.act_as_user('owner');
select results_eq('select repeat_id, source_task_id from public.list_repeats((select id from made))',
  'select repeated.id, made.id from repeated, made', 'the source lists its repeats');
select results_eq('select repeat_id, source_task_id from public.list_repeats((select id from repeated))',
  'select repeated.id, made.id from repeated, made', 'and the repeat its source');
select is(tests.code_of('select * from public.list_repeats((select id from made), 0)'), 'QUERY_INVALID', 'a page has at least one row');
select tests.act_as_user('stranger');
select is(tests.code_of('select * from public.list_repeats((select id from made))'), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_anon();
select is(tests.code_of('select * from public.list_repeats((select id from made))'), '42501', 'anon may not call the function');
select tests.act_as_nobody();
delete from public.tasks where id = (select id from made);
select is((select count(*) from private.task_repeats), 1::bigint, 'a repeat outlives its source');
delete from public.tasks where id = (select id from repeated);
select is_empty('select 1 from private.task_repeats', 'a deleted repeat is removed');

select * from finish();
rollback;
