begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_agent('worker-agent');
insert into public.agents (name, slug, system_prompt, is_active) values ('asleep', 'asleep', '', false);

select is(tests.code_of($$select private.create_task('nobody', '{}')$$), 'AGENT_NOT_FOUND', 'unknown agent');
select is(tests.code_of($$select private.create_task('asleep', '{}')$$), 'AGENT_INACTIVE', 'inactive agent');
select is(tests.code_of($$select private.create_task('worker-agent', '[1]')$$), 'TASK_INPUT_INVALID', 'input that is a list');
select is(tests.code_of($$select private.create_task('worker-agent', null)$$), 'TASK_INPUT_INVALID', 'no input');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', p_priority => 'urgent')$$), 'TASK_PRIORITY_INVALID', 'unknown priority');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', p_budget => '{"max_depth": -1}')$$), 'TASK_BUDGET_INVALID', 'negative cap');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', p_budget => '{"max_dept": 1}')$$), 'TASK_BUDGET_INVALID', 'unknown cap');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', gen_random_uuid())$$), 'FORBIDDEN', 'an owner whose account is gone');

select * from finish();
rollback;
