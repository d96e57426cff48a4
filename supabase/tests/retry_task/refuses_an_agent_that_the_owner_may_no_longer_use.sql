begin;
set local search_path = public, extensions;
select plan(4);
create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select private.fail_task((select id from made), tests.claim((select id from made)), '{"code": "TOOL_FAILED"}', 'never');
update public.agents set audience = 'named' where slug = 'worker-agent';

select tests.act_as_user('owner');
select is(tests.code_of('select public.retry_task((select id from made))'), 'AGENT_NOT_FOUND', 'the owner is no longer in the audience');
select tests.act_as_nobody();
select is((select status from public.tasks where id = (select id from made)), 'failed', 'the task is unchanged');

insert into public.agent_audience (agent_id, user_id) values (tests.create_agent('worker-agent'), tests.user_id('owner'));
update public.agents set is_active = false where slug = 'worker-agent';
select tests.act_as_user('owner');
select is(tests.code_of('select public.retry_task((select id from made))'), 'AGENT_INACTIVE', 'an inactive agent is not started again');
select tests.act_as_nobody();
update public.agents set is_active = true where slug = 'worker-agent';
select tests.act_as_user('owner');
select is(public.retry_task((select id from made)), 'pending', 'an owner in the audience can retry');
select tests.act_as_nobody();
select * from finish();
rollback;
