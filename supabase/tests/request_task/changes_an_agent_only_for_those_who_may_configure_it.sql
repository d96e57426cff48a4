begin;
set local search_path = public, extensions;
select plan(15);
select tests.create_user('owner'), tests.create_user('engineer'), tests.create_agent('worker-agent');
select tests.create_provider('other');
insert into public.mcp_grants (user_id, scopes) values (tests.user_id('engineer'), '{swarm:run,swarm:configure}');
insert into public.mcp_grants (user_id, client_id, scopes) values (tests.user_id('engineer'), 'app', '{swarm:run}');

create function pg_temp.request(p_caller jsonb, p_changes jsonb, p_metadata jsonb default '{}') returns uuid language sql
  as $$ select task_id from private.request_task(p_caller,
    jsonb_build_object('agent', 'worker-agent', 'input', 'Go', 'agent_changes', p_changes, 'metadata', p_metadata), null, null) $$;
create function pg_temp.person(p_name text, p_client text default null) returns jsonb language sql
  as $$ select jsonb_build_object('actor', case when p_client is null then 'user' else 'client' end,
    'user_id', tests.user_id(p_name), 'client_id', p_client) $$;
create function pg_temp.changes_of(p_task uuid) returns jsonb language sql
  as $$ select agent_changes from public.tasks where id = p_task $$;

select is(pg_temp.changes_of(pg_temp.request(pg_temp.person('engineer'), '{"provider": "other"}')),
  '{"provider": "other", "model": "test-model", "fallbacks": []}',
  'who may configure agents changes one for a job, and a provider gets its default model');
select is(pg_temp.changes_of(pg_temp.request('{"actor": "service"}', '{"prompt": "Be brief."}')), '{"prompt": "Be brief."}',
  'the service does too, and a prompt alone leaves the model and its fallbacks');
select is(pg_temp.changes_of(pg_temp.request(pg_temp.person('owner'), null)), null, 'null is no change, which everybody may send');
select throws_ok($$select pg_temp.request(pg_temp.person('owner'), '{"model": "test-model"}')$$,
  'PT403', 'Cannot change the agent for a job: the caller lacks the scope swarm:configure', 'other users may not');
select throws_ok($$select pg_temp.request(pg_temp.person('engineer', 'app'), '{"model": "test-model"}')$$,
  'PT403', 'Cannot change the agent for a job: the caller lacks the scope swarm:configure',
  'nor may a client without the scope, whatever its user may do');
select throws_ok(
  format($$select pg_temp.request('{"actor": "agent", "task_id": "%s"}', '{"model": "test-model"}')$$, tests.create_task()),
  'PT403', 'Cannot create the task: an agent cannot change an agent', 'nor may an agent');

create temp table run on commit drop as
  select * from private.begin_eval_run(
    p_agent => 'worker-agent', p_user_id => tests.user_id('owner'), p_agent_changes => '{"provider": "other"}');
create function pg_temp.request_in_run(p_name text, p_model text) returns uuid language sql
  as $$ select pg_temp.request(pg_temp.person(p_name), jsonb_build_object('provider', 'other', 'model', p_model),
    jsonb_build_object('tag', 'eval:' || (select id from run))) $$;
select is(pg_temp.changes_of(pg_temp.request_in_run('owner', 'test-model')), (select agent_changes from run),
  'the user of an eval run may send the changes of the run');
select throws_ok($$select pg_temp.request_in_run('owner', 'gold-model')$$,
  'PT403', 'Cannot change the agent for a job: the caller lacks the scope swarm:configure', 'no other changes');
select tests.create_user('stranger');
select throws_ok($$select pg_temp.request_in_run('stranger', 'test-model')$$,
  'PT403', 'Cannot change the agent for a job: the caller lacks the scope swarm:configure', 'nobody else may');
select private.end_eval_run((select id from run));
select throws_ok($$select pg_temp.request_in_run('owner', 'test-model')$$,
  'PT403', 'Cannot change the agent for a job: the caller lacks the scope swarm:configure', 'nor the user after the end of the run');

create temp table made on commit drop as
  select pg_temp.request(pg_temp.person('engineer'), '{"provider": "other", "prompt": "Be brief."}') as id;
grant select on made to authenticated;
select private.finish_task((select id from made), tests.claim((select id from made)), '{}');
select tests.act_as_user('engineer');
select is(pg_temp.changes_of(public.fork_task((select id from made), 1)), (select agent_changes from public.tasks where id = (select id from made)),
  'a fork has the changes of its source');
reset role;
delete from public.mcp_grants where user_id = tests.user_id('engineer') and client_id is null;
select tests.act_as_user('engineer');
select throws_ok($$select public.fork_task((select id from made), 1)$$, 'PT403',
  'Cannot fork the task, which runs with a changed agent: the caller lacks the scope swarm:configure',
  'but not for an owner who may no longer configure agents');
select throws_ok($$select public.continue_task((select id from made), '"More"')$$, 'PT403',
  'Cannot continue the task, which runs with a changed agent: the caller lacks the scope swarm:configure',
  'nor does the task take another message');
reset role;
select is(
  (select payload -> 'agent_changes' from public.task_events where task_id = (select id from made) and type = 'task.created'),
  '["fallbacks", "model", "prompt", "provider"]', 'the first event names what is changed');
select is((select agent.provider_id from public.agents as agent where slug = 'worker-agent'), tests.create_provider('test'),
  'the agent stays as it is');

select finish();
rollback;
