begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into public.conversations (id, user_id, title) values (md5('talk')::uuid, tests.user_id('owner'), 'Talk');
create temp table made on commit drop as
  select task_id as id from private.create_task('worker-agent', '{}', tests.user_id('owner'),
    p_metadata => jsonb_build_object('conversation_id', md5('talk')::uuid));
select tests.claim(id) from made;
update private.quotas set amount = 210 where name = 'conversation_bytes';

select private.finish_task(id, tests.epoch_of(id), '"done"') from made;
select is((select status::text from public.tasks), 'completed', 'a job completes although its answer has no room in the conversation');
select is((select count(*) from public.messages)::int, 0, 'the answer is not added');
select matches((select logs[array_upper(logs, 1)] from public.tasks), 'conversation_bytes', 'and the log of the task says why');

select * from finish();
rollback;
