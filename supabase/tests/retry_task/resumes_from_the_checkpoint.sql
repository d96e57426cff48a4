begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30,
  '[{"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "tool_calls": []}}]',
  '[{"seq": 2, "kind": "tool", "name": "look"}]');
update public.tasks set max_attempts = 1;
select private.fail_task((select id from made), tests.epoch_of((select id from made)), '{"code": "TOOL_UNAVAILABLE", "message": "gone"}', 'backoff');

select tests.act_as_user('owner');
select is(public.retry_task((select id from made)), 'pending', 'the task is queued again');
select is(tests.code_of('select public.retry_task((select id from made))'), 'TASK_NOT_RETRYABLE', 'a second retry is refused');
select tests.act_as_nobody();

select results_eq(
  'select attempts, deliveries, error, finished_at from public.tasks',
  $$values (0, 0, null::jsonb, null::timestamptz)$$, 'the failure is cleared'
);
select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'the task has one message');
select isnt((select retried_at from private.dead_letters), null, 'the dead letter is marked as retried');
select is((select payload ->> 'reason' from public.task_events where type = 'task.retried'), 'requested', 'the trace contains the reason');
select cmp_ok(tests.epoch_of((select id from made)), '<', tests.claim((select id from made)), 'a worker claims it with a new epoch');
select results_eq(
  'select seq, state from public.task_steps order by seq',
  $$values (1, 'done'), (2, 'started')$$, 'it resumes after the recorded step'
);

select * from finish();
rollback;
