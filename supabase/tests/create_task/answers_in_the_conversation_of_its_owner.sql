begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('stranger'), tests.create_agent('worker-agent');
create temp table made (id uuid) on commit drop;
grant all on made to authenticated;
select tests.act_as_user('owner');
insert into made select private.create_conversation('Talk');
select tests.act_as_nobody();
create function pg_temp.ask(p_owner text, p_conversation text) returns uuid language sql as $$
  select task_id from private.create_task('worker-agent', '"?"', tests.user_id(p_owner),
    p_metadata => jsonb_build_object('conversation_id', p_conversation))
$$;

select is(
  tests.code_of(format('select pg_temp.ask(''stranger'', %L)', (select id from made))),
  'CONVERSATION_NOT_FOUND', 'a stranger''s conversation is refused');
select is(tests.code_of($$select pg_temp.ask('owner', 'my talk')$$), 'CONVERSATION_NOT_FOUND', 'and what is none');
select is(
  tests.code_of(format($$select private.create_task('worker-agent', '"?"', p_metadata => %L)$$,
    jsonb_build_object('conversation_id', (select id from made)))),
  'CONVERSATION_NOT_FOUND', 'a task without an owner has no conversation');

create temp table task on commit drop as select pg_temp.ask('owner', (select id from made)::text) as id;
grant select on task to service_role;
select private.finish_task((select id from task), tests.claim((select id from task)), '"All is well"');
select results_eq(
  'select role, content from messages', $$values ('assistant', 'All is well')$$, 'its output is added when it completes');
select tests.act_as_service();
select public.continue_task((select id from task), '"And now?"');
select tests.act_as_nobody();
select private.finish_tasks(jsonb_build_array(jsonb_build_object(
  'id', (select id from task), 'held_epoch', tests.claim((select id from task)), 'output', '{"answer": 42}'::jsonb)));
select is(
  (select content::jsonb from messages where seq = 2), '{"answer": 42}'::jsonb,
  'once more when it was continued, an object as JSON');
select is((select count(*) from messages), 2::bigint, 'once each time');

create temp table failed on commit drop as select pg_temp.ask('owner', (select id from made)::text) as id;
select private.fail_task((select id from failed), tests.claim((select id from failed)), '{"code": "INTERNAL"}', 'never');
select is((select count(*) from messages), 2::bigint, 'a task that fails adds nothing');

create temp table late on commit drop as select pg_temp.ask('owner', (select id from made)::text) as id;
delete from conversations where id = (select id from made);
select is(
  private.finish_task((select id from late), tests.claim((select id from late)), '"Too late"'), 'completed',
  'a conversation that is gone keeps no task from ending');
select is_empty('select from messages', 'and takes no message');

select * from finish();
rollback;
