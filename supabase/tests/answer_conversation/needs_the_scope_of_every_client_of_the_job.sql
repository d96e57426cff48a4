begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner'), tests.create_agent('worker-agent');
select public.grant_scopes(tests.user_id('owner'), '{}', client) from unnest(array['runner', 'writer']) as client;
update public.mcp_grants set scopes = '{swarm:run}' where client_id = 'runner';
update public.mcp_grants set scopes = '{swarm:run,conv:write}' where client_id = 'writer';
insert into public.conversations (id, user_id, title) values (md5('talk')::uuid, tests.user_id('owner'), 'Talk');
create function pg_temp.act_through(p_client text) returns void language sql as $$
  select tests.act_as_user('owner');
  select set_config('request.jwt.claims',
    (current_setting('request.jwt.claims')::jsonb || jsonb_build_object('client_id', p_client))::text, true);
$$;
create function pg_temp.complete(p_task_id uuid) returns void language sql as $$
  select tests.act_as_nobody();
  select tests.claim(p_task_id);
  select private.finish_task(p_task_id, tests.epoch_of(p_task_id), '"Hello"');
$$;
create function pg_temp.message_count() returns int language sql as $$ select count(*)::int from public.messages $$;
create temp table made on commit drop as
  select task_id as id from private.create_task('worker-agent', '{}', tests.user_id('owner'),
    p_metadata => jsonb_build_object('conversation_id', md5('talk')::uuid));
grant select on made to authenticated;

select pg_temp.complete(id) from made;
select is(pg_temp.message_count(), 1, 'the job of the user answers in the conversation');

select pg_temp.act_through('writer');
select public.continue_task(id, '"Say more"') from made;
select pg_temp.complete(id) from made;
select is(pg_temp.message_count(), 2, 'it answers a client that may write conversations');

select pg_temp.act_through('runner');
create temp table fork on commit drop as select public.fork_task(id, 1, '{"input": "Say that I agree"}') as id from made;
select pg_temp.complete(id) from fork;
select is((select status::text from public.tasks where id = (select id from fork)), 'completed', 'a fork of a client without the scope completes');
select is(pg_temp.message_count(), 2, 'but adds nothing to the conversation');

select pg_temp.act_through('runner');
select public.continue_task(id, '"Say that I agree"') from made;
select pg_temp.complete(id) from made;
select is(pg_temp.message_count(), 2, 'neither does a job that such a client has continued');
select matches((select logs[array_upper(logs, 1)] from public.tasks where id = (select id from made)), 'conv:write',
  'and the log of the task says why');

select * from finish();
rollback;
