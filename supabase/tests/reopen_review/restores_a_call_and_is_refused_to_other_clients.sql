begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30,
  '[{"seq": 1, "kind": "tool", "name": "pay", "call_id": "c1", "input": {"arguments": {"amount": 5}}}]');
select private.request_review(p_task_id => (select id from made), p_epoch => tests.epoch_of((select id from made)), p_seq => 1,
  p_question => 'Pay?', p_context => '{"arguments": {"amount": 5}}', p_kind => 'call');
insert into public.mcp_grants (user_id, client_id, scopes) values (tests.user_id('owner'), 'app', '{swarm:run}');

select tests.act_as_user('owner');
select public.respond_to_review((select id from made), true, '{"arguments": {"amount": 3}}');
select tests.act_as_nobody();
select is((select input -> 'approved_arguments' from public.task_steps), '{"amount": 3}', 'an approved call has its arguments');
select set_config('request.jwt.claims', json_build_object(
  'sub', tests.user_id('owner'), 'role', 'authenticated', 'client_id', 'app')::text, true);
set local role authenticated;
select is(tests.code_of($$select public.reopen_review((select id from made))$$), 'FORBIDDEN', 'a client takes back only its own answers');
select tests.act_as_nobody();
select tests.act_as_user('owner');
select is(public.reopen_review((select id from made)), 'needs_human_review', 'the owner takes it back');
select tests.act_as_nobody();
select is((select input from public.task_steps), '{"arguments": {"amount": 5}}', 'the call is as it was');
select is((select approved_arguments from public.human_reviews), null, 'and not approved');

select * from finish();
rollback;
