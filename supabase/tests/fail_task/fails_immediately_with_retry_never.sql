begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));

select is((select status from private.fail_task((select id from made), tests.epoch_of((select id from made)), '{"code": "MODEL_KEY_MISSING", "message": "no key"}', 'never')), 'failed', 'the task fails');
select is((select count(*) from pgmq.q_agent_tasks)::int, 0, 'no message is queued');

select * from finish();
rollback;
