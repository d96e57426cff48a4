begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_agent('worker-agent');
insert into public.skills (skill_id, name, description, instructions, resources)
values ('pricing', 'pricing', 'How prices are made', 'The margin is 40 percent', '{"table.md": "Secret"}');
insert into public.agent_skills (agent_id, skill_id)
select agent.id, skill.id from public.agents as agent, public.skills as skill
where agent.slug = 'worker-agent' and skill.skill_id = 'pricing';
create temp table task on commit drop as select tests.create_task() as id;
create temp table held on commit drop as select tests.claim((select id from task)) as epoch;
select private.record_steps((select id from task), (select epoch from held), 30,
  '[{"seq": 1, "kind": "system", "state": "done", "name": "load_skill", "call_id": "c1",
     "input": {"arguments": {"skill_id": "pricing"}},
     "output": {"text": "The margin is 40 percent", "skill_id": "pricing"}}]', '[]');

select matches((select context::text from private.task_contexts(array(select task from public.tasks as task))), 'The margin is 40 percent', 'the model reads the instructions');
grant select on task to authenticated;
select tests.act_as_user('owner');
select is((select output from public.task_steps where task_id = (select id from task)), '{"skill_id": "pricing"}', 'the owner reads only which skill it was');
select is_empty($$select from public.task_events where payload::text like '%margin%'$$, 'the trace does not contain the instructions');
select throws_ok('select output from private.hidden_step_outputs', '42501', null, 'the owner cannot read the hidden output');
select throws_ok('select instructions from public.skills', '42501', null, 'the owner cannot read the instructions from the row');
select throws_ok('select resources from public.skills', '42501', null, 'the owner cannot read the resources');
select is((select description from public.skills where skill_id = 'pricing'), 'How prices are made', 'the owner can read the description');
select tests.act_as_nobody();
update public.agents set audience = 'named' where slug = 'worker-agent';
select tests.act_as_user('owner');
select is_empty($$select from public.skills where skill_id = 'pricing'$$, 'a user sees only the skills of agents that they may use');
select tests.act_as_nobody();

select * from finish();
rollback;
