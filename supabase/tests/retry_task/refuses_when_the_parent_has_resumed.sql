begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select * from private.claim_tasks('w1', 1, 30);
select private.fail_task(task_id, epoch, '{"code": "MODEL_REFUSED", "message": "no"}', 'never') from child;
select is(tests.code_of('select private.retry_task((select task_id from child))'), 'TASK_NOT_RETRYABLE', 'a worker may be reading the result');

select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 3, "kind": "model", "state": "done", "output": {}}]');
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
select is(tests.code_of('select private.retry_task((select task_id from child))'), 'TASK_NOT_RETRYABLE', 'the agent has read the result');

select private.cancel_task((select id from made));
select is(tests.code_of('select private.retry_task((select task_id from child))'), 'TASK_NOT_RETRYABLE', 'the parent has ended');

select * from finish();
rollback;
