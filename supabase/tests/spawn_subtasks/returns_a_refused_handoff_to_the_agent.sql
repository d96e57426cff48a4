begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select tests.create_agent('friend'), tests.create_agent('stranger');
insert into public.agent_handoffs select tests.create_agent('worker-agent'), tests.create_agent('friend');

create temp table spawned on commit drop as
  select * from private.spawn_subtasks((select id from made), tests.epoch_of((select id from made)), 30, '[
    {"seq": 2, "agent": "friend", "input": {}}, {"seq": 3, "agent": "stranger", "input": {}}, {"seq": 4, "agent": "nobody", "input": {}}]');

select results_eq('select error ->> ''code'' from spawned order by seq',
  array[null, 'AGENT_HANDOFF_FORBIDDEN', 'AGENT_NOT_FOUND'], 'only the allowed agent accepts the handoff');
select is((select pending_children from public.tasks where id = (select id from made)), 1, 'the parent waits for one child');
select results_eq('select output -> ''error'' ->> ''code'' from public.task_steps where state = ''failed'' order by seq',
  array['AGENT_HANDOFF_FORBIDDEN', 'AGENT_NOT_FOUND'], 'the steps of the refused handoffs hold the error');

select * from finish();
rollback;
