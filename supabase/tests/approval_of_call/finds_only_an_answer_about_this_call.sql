begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_task() as id;
insert into public.tools (name, slug, type, config) values ('bank', 'bank', 'mcp_server', '{"mcp_url": "https://tools.example"}');
grant select on made to authenticated;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "tool", "name": "pay", "call_id": "c1", "input": {"server": "bank", "arguments": {"amount": 5}}}]');
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May the agent call "pay"?', null, '{"arguments": {"amount": 5}}', 'call');
create function pg_temp.approved(p_server text, p_name text, p_seq int) returns jsonb language sql as $$
  select private.approval_of_call(
    jsonb_build_object('server', p_server, 'caller', jsonb_build_object('task_id', (select id from made)), 'step_seq', p_seq),
    (select id from public.tools where slug = 'bank'), p_name, tests.user_id('owner')) -> 'approved_arguments';
$$;

select is(pg_temp.approved('bank', 'pay', 1), 'null', 'an open question approves nothing');
select tests.act_as_user('owner');
select public.respond_to_review((select id from made), true);
select tests.act_as_nobody();
select is(pg_temp.approved('bank', 'pay', 1), '{"amount": 5}', 'an answer approves the call with its arguments');
select is(pg_temp.approved('bank', 'transfer', 1), 'null', 'not another tool');
select is(pg_temp.approved('mail', 'pay', 1), 'null', 'not another server');
select is(pg_temp.approved('bank', 'pay', 2), 'null', 'not another step');
select is(pg_temp.approved('bank', 'pay', null), 'null', 'not a call beside the transcript');
select is(private.approval_of_call('{"caller": {}}', null, 'pay', tests.user_id('owner')), null, 'a call that no agent makes needs none');
update public.task_steps set state = 'done', output = '{}', ended_at = clock_timestamp();
select is(pg_temp.approved('bank', 'pay', 1), 'null', 'not a call that has ended');

select * from finish();
rollback;
