begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));

select private.fail_task((select id from made), tests.epoch_of((select id from made)), '{"code": "MODEL_RATE_LIMITED", "message": "slow"}', 'rate_limited', 120);

select is((select attempts from public.tasks), 0, 'no attempt counts');
select is_empty('select from pgmq.q_agent_tasks', 'a task two minutes away has no message');
select ok((select run_after > clock_timestamp() + interval '119 seconds' from public.tasks), 'it has a start time');

select * from finish();
rollback;
