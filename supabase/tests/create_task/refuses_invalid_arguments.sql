begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_agent('worker-agent');
insert into public.agents (name, slug, system_prompt, is_active) values ('asleep', 'asleep', '', false);

select is(tests.code_of($$select private.create_task('nobody', '{}')$$), 'AGENT_NOT_FOUND', 'an unknown agent is refused');
select is(tests.code_of($$select private.create_task('asleep', '{}')$$), 'AGENT_INACTIVE', 'an inactive agent is refused');
select is(tests.code_of($$select private.create_task('worker-agent', '[1]')$$), 'TASK_INPUT_INVALID', 'an input that is a list is refused');
select is(tests.code_of($$select private.create_task('worker-agent', null)$$), 'TASK_INPUT_INVALID', 'a missing input is refused');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', p_priority => 'urgent')$$), 'TASK_PRIORITY_INVALID', 'an unknown priority is refused');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', p_budget => '{"max_depth": -1}')$$), 'TASK_BUDGET_INVALID', 'a negative cap is refused');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', p_budget => '{"max_dept": 1}')$$), 'TASK_BUDGET_INVALID', 'an unknown cap is refused');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', p_budget => '[]')$$), 'TASK_BUDGET_INVALID', 'a list is refused');
select is(tests.code_of($$select private.create_task('worker-agent', '{}', gen_random_uuid())$$), 'FORBIDDEN', 'an owner whose account is deleted is refused');

select * from finish();
rollback;
