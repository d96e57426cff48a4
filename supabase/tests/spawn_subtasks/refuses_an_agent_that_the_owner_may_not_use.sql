begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('owner'), tests.create_agent('payroll');
update public.agents set audience = 'named' where slug = 'payroll';
create temp table parent on commit drop as select tests.create_task() as id;
create temp table held on commit drop as select tests.claim((select id from parent)) as epoch;

create function pg_temp.hand_off(p_seq int) returns jsonb language sql as $$
  select error from private.spawn_subtasks((select id from parent), (select epoch from held), 30,
    jsonb_build_array(jsonb_build_object('seq', p_seq, 'agent', 'payroll', 'input', '{}'::jsonb)))
$$;
select private.record_steps((select id from parent), (select epoch from held), 30,
  '[{"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "tool_calls": []}}]',
  '[{"seq": 2, "kind": "system", "name": "create_subtask", "call_id": "c1"},
    {"seq": 3, "kind": "system", "name": "create_subtask", "call_id": "c2"}]');
create function pg_temp.offered() returns boolean language sql as $$
  select (context -> 'handoffs')::text like '%payroll%' from private.task_contexts(array(select task from public.tasks as task where task.id = (select id from parent)))
$$;

select ok(not pg_temp.offered(), 'the agent is not offered');
select is(pg_temp.hand_off(2) ->> 'code', 'AGENT_HANDOFF_FORBIDDEN', 'an agent cannot hand off to an agent that its owner may not use');
select is((select count(*)::int from public.tasks where parent_id = (select id from parent)), 0, 'no subtask is created');
insert into public.agent_audience (agent_id, user_id) select id, tests.user_id('owner') from public.agents where slug = 'payroll';
select ok(pg_temp.offered(), 'the agent is offered to an owner who is named');
select is(pg_temp.hand_off(3), null, 'the agent can hand off to it');

select * from finish();
rollback;
