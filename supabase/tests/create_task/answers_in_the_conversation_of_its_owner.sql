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
  'CONVERSATION_NOT_FOUND', 'another user''s conversation is refused');
select is(tests.code_of($$select pg_temp.ask('owner', 'my talk')$$), 'CONVERSATION_NOT_FOUND', 'an invalid conversation is refused');
select is(
  tests.code_of(format($$select private.create_task('worker-agent', '"?"', p_metadata => %L)$$,
    jsonb_build_object('conversation_id', (select id from made)))),
  'CONVERSATION_NOT_FOUND', 'a task without an owner cannot have a conversation');

create temp table task on commit drop as select pg_temp.ask('owner', (select id from made)::text) as id;
grant select on task to service_role;
select private.finish_task((select id from task), tests.claim((select id from task)), '"All is well"');
select results_eq(
  'select role, content from messages', $$values ('assistant', 'All is well')$$, 'the output is added when the task completes');
select tests.act_as_service();
select public.continue_task((select id from task), '"And now?"');
select tests.act_as_nobody();
select private.finish_tasks(jsonb_build_array(jsonb_build_object(
  'id', (select id from task), 'held_epoch', tests.claim((select id from task)), 'output', '{"answer": 42}'::jsonb)));
select is(
  (select content::jsonb from messages where seq = 2), '{"answer": 42}'::jsonb,
  'it is added again after a continuation, and an object is added as JSON');
select is((select count(*) from messages), 2::bigint, 'each completion adds one message');

create temp table failed on commit drop as select pg_temp.ask('owner', (select id from made)::text) as id;
select private.fail_task((select id from failed), tests.claim((select id from failed)), '{"code": "INTERNAL"}', 'never');
select is((select count(*) from messages), 2::bigint, 'a failed task adds nothing');

create temp table late on commit drop as select pg_temp.ask('owner', (select id from made)::text) as id;
delete from conversations where id = (select id from made);
select is(
  private.finish_task((select id from late), tests.claim((select id from late)), '"Too late"'), 'completed',
  'a deleted conversation does not prevent a task from ending');
select is_empty('select from messages', 'a deleted conversation gets no message');

select * from finish();
rollback;
