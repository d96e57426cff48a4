begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select * from private.claim_tasks('w1', 1, 30);
select private.fail_task(task_id, epoch, '{"code": "MODEL_REFUSED", "message": "no"}', 'never') from child;
select is(tests.code_of('select private.retry_task((select task_id from child))'), 'TASK_NOT_RETRYABLE', 'a worker may be reading the result');

select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 3, "kind": "model", "state": "done", "output": {}}]');
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
select is(tests.code_of('select private.retry_task((select task_id from child))'), 'TASK_NOT_RETRYABLE', 'the agent has read the result');

select private.cancel_task((select id from made));
select is(tests.code_of('select private.retry_task((select task_id from child))'), 'TASK_NOT_RETRYABLE', 'the parent has ended');

create temp table continued on commit drop as select tests.create_family(1) as id;
create temp table its_child on commit drop as select id from public.tasks where parent_id = (select id from continued);
select private.cancel_task((select id from continued));
select private.fail_task(id, epoch, '{"code": "MODEL_REFUSED", "message": "no"}', 'never')
from public.tasks where master_task_id = (select id from continued) and status = 'running' order by depth desc;
select private.continue_task((select id from continued), '"Do something else"');
select is(tests.code_of('select private.retry_task((select id from its_child))'), 'TASK_NOT_RETRYABLE',
  'the user has continued the parent with a message, which closed the turn that asked for the subtask');

select * from finish();
rollback;
