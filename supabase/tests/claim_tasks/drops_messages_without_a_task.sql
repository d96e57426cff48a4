begin;
set local search_path = public, extensions;
select plan(2);

select pgmq.send('agent_tasks', jsonb_build_object('task_id', gen_random_uuid()));
select pgmq.send('agent_tasks', message)
from unnest(array['{"nonsense": true}', '{"task_id": "nonsense"}', '{"task_id": {}}', '{"task_id": 7}', '[]', '"x"', 'null']::jsonb[])
  as message;

select is_empty('select * from private.claim_tasks(''w1'', 10, 30)', 'nothing to claim');
select is_empty('select * from private.live_messages()', 'and the messages are gone');

select * from finish();
rollback;
