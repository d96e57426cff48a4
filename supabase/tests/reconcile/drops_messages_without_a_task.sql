begin;
set local search_path = public, extensions;
select plan(2);

select pgmq.send('agent_tasks', jsonb_build_object('task_id', gen_random_uuid()));
select pgmq.send('agent_tasks', message)
from unnest(array['{"nonsense": true}', '{"task_id": "nonsense"}', '{"task_id": {}}', '{"task_id": 7}', '[]', '"x"', 'null']::jsonb[])
  as message;

select tests.create_task();
select private.send_message(id) from public.tasks;
select private.reconcile();

select results_eq(
  'select msg_id from pgmq.q_agent_tasks', 'select message_id from public.tasks', 'only the message of the waiting task is left'
);
select is((select count(*) from private.claim_tasks('w1', 10, 30))::int, 1, 'only one worker gets the task');

select * from finish();
rollback;
