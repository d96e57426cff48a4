begin;
set local search_path = public, extensions;
select plan(20);

create temp table made on commit drop as
  select name, tests.create_task() as id from unnest(array['edited', 'asked', 'rejected', 'rerun', 'client']) as name;
grant select on made to authenticated;
select tests.claim((select id from made where name = 'edited'));
select private.begin_steps(id, tests.epoch_of(id), 30, '[
  {"seq": 1, "kind": "tool", "name": "pay", "call_id": "c1", "input": {"server": "bank", "arguments": {"amount": 500}}},
  {"seq": 2, "kind": "tool", "name": "pay", "call_id": "c2", "input": {"server": "bank", "arguments": {"amount": 9}}}]')
from made;
select private.request_review(id, tests.epoch_of(id), 1, 'May the agent call "pay"?', null, jsonb_build_object(
  'arguments', '{"amount": 500}'::jsonb, 'scopes', '["mcp:bank"]'::jsonb, 'reasons', '["sql_policy"]'::jsonb,
  'input_schema', '{"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]}'::jsonb
), case name when 'rerun' then 'rerun' else 'call' end, '[2]')
from made;
create function pg_temp.id(p_name text) returns uuid language sql as $$ select id from made where name = p_name $$;
create function pg_temp.answer(p_name text, p_response jsonb) returns text language sql as $$
  select tests.code_of(format('select public.respond_to_review(%L, true, %L)', pg_temp.id(p_name), p_response));
$$;
create function pg_temp.approved(p_name text) returns jsonb language sql as $$
  select approved_arguments from public.human_reviews where task_id = pg_temp.id(p_name);
$$;
select is((select string_agg(distinct seq::text, ',') from public.task_steps), '1', 'calls that were not made are deleted');

select tests.act_as_user('owner');
select is(pg_temp.answer('edited', '{"arguments": {"amount": "5"}}'), 'REVIEW_ARGUMENTS_INVALID', 'edited arguments must match the schema');
select is(pg_temp.answer('edited', '{"arguments": {"amount": 5, "to": "eve"}}'), 'REVIEW_ARGUMENTS_INVALID', 'and be declared');
select is(pg_temp.answer('edited', '{"arguments": [5]}'), 'REVIEW_ARGUMENTS_INVALID', 'and be an object');
select is(pg_temp.answer('edited', '{"arguments": null}'), 'REVIEW_ARGUMENTS_INVALID', 'also when they are null');
select is(public.respond_to_review(pg_temp.id('edited'), true, '{"arguments": {"amount": 5}}'), 'pending', 'an approval with other arguments resumes the task');
select is(pg_temp.approved('edited'), '{"amount": 5}', 'they are what was approved');
select is((select input -> 'arguments' from public.task_steps where task_id = pg_temp.id('edited')), '{"amount": 500}', 'the step keeps what was asked for');
select is((select input -> 'approved_arguments' from public.task_steps where task_id = pg_temp.id('edited')), '{"amount": 5}', 'beside what was approved');
select is((select state from public.task_steps where task_id = pg_temp.id('edited')), 'started', 'the call has not run');

select public.respond_to_review(pg_temp.id('asked'), true);
select is(pg_temp.approved('asked'), '{"amount": 500}', 'without other arguments, those that were asked for are approved');
select public.respond_to_review(pg_temp.id('rejected'), false, '{"arguments": {"amount": "x"}}', 'No');
select is(pg_temp.approved('rejected'), null, 'a rejection approves none');
select ok(not (select input ? 'approved_arguments' from public.task_steps where task_id = pg_temp.id('rejected')), 'and leaves the step as it is');
select is(pg_temp.answer('rerun', '{"arguments": {"amount": 5}}'), 'REVIEW_ARGUMENTS_INVALID', 'a call that may have run cannot be made again with other arguments');
select is(public.respond_to_review(pg_temp.id('rerun'), true), 'pending', 'but as it was');
select tests.act_as_nobody();

insert into public.mcp_grants (user_id, client_id, scopes) values
  (tests.user_id('owner'), 'editor', '{swarm:run}'), (tests.user_id('owner'), 'banker', '{swarm:run,mcp:bank}');
create function pg_temp.act_as_client(p_client text) returns void language sql as $$
  select set_config('request.jwt.claims', jsonb_build_object(
    'sub', tests.user_id('owner'), 'role', 'authenticated', 'client_id', p_client)::text, true);
$$;
select set_config('role', 'authenticated', true);
select pg_temp.act_as_client('editor');
select is(pg_temp.answer('client', '{}'), 'INSUFFICIENT_SCOPE', 'a client cannot approve a call that it may not make');
select tests.act_as_nobody();
insert into private.job_clients (job_id, client_id, scopes) values (pg_temp.id('client'), 'banker', '{swarm:run,mcp:bank}');
select set_config('role', 'authenticated', true);
select pg_temp.act_as_client('banker');
select is(pg_temp.answer('client', '{}'), 'FORBIDDEN', 'nor a statement that waits for the owner, of a job to which it has contributed');
select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || '{"supaswarm_actor": "agent"}')::text, true);
select is(pg_temp.answer('client', '{}'), 'AGENT_NOT_ALLOWED', 'an agent approves nothing');
select tests.act_as_user('owner');
select is(public.respond_to_review(pg_temp.id('client'), true), 'pending', 'the owner does');
select is(pg_temp.answer('client', '{}'), 'REVIEW_ALREADY_ANSWERED', 'once');
select tests.act_as_nobody();

select * from finish();
rollback;
