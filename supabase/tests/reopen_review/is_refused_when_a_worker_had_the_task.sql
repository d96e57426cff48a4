begin;
set local search_path = public, extensions;
select plan(2);

-- A retried task has an open review while a worker has it again.
create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30,
  '[{"seq": 1, "kind": "tool", "name": "pay", "call_id": "c1", "input": {"arguments": {"amount": 5}}}]');
select private.request_review(p_task_id => (select id from made), p_epoch => tests.epoch_of((select id from made)), p_seq => 1,
  p_question => 'Pay?', p_context => '{"arguments": {"amount": 5}}', p_kind => 'call');
select private.cancel_task((select id from made));
select private.retry_task((select id from made));
select private.claim_tasks('w2', 1, 30);

select tests.act_as_user('owner');
select is(public.respond_to_review((select id from made), true), 'running', 'the open review is answered while the worker has the task');
select tests.act_as_nobody();

-- The worker makes the approved call and hands the task back.
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30,
  '[{"seq": 1, "kind": "tool", "name": "pay", "call_id": "c1", "state": "done", "output": {"text": "paid"}}]');
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
select tests.act_as_user('owner');
select is(tests.code_of('select public.reopen_review((select id from made))'), 'REVIEW_NOT_REOPENABLE',
  'the answer to a call that was made is not taken back');

select * from finish();
rollback;
