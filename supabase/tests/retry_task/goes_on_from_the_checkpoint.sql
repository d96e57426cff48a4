begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.record_steps((select id from made), 1, 30,
  '[{"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "tool_calls": []}}]',
  '[{"seq": 2, "kind": "tool", "name": "look"}]');
update public.tasks set max_attempts = 1;
select private.fail_task((select id from made), 1, '{"code": "TOOL_UNAVAILABLE", "message": "gone"}', 'backoff');

select tests.act_as_user('owner');
select is(public.retry_task((select id from made)), 'pending', 'it is queued again');
select is(tests.code_of('select public.retry_task((select id from made))'), 'TASK_NOT_RETRYABLE', 'once is enough');
select tests.act_as_nobody();

select results_eq(
  'select attempts, deliveries, error, finished_at from public.tasks',
  $$values (0, 0, null::jsonb, null::timestamptz)$$, 'nothing is left of the failure'
);
select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'it has one message');
select isnt((select retried_at from private.dead_letters), null, 'the dead letter knows');
select is((select payload ->> 'reason' from public.task_events where type = 'task.retried'), 'requested', 'the trace says why');
select is(tests.claim((select id from made)), 2::bigint, 'a worker takes it with a new epoch');
select results_eq(
  'select seq, state from public.task_steps order by seq',
  $$values (1, 'done'), (2, 'started')$$, 'and goes on after the recorded step'
);

select * from finish();
rollback;
