begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model"}, {"seq": 2, "kind": "tool", "name": "pay"}, {"seq": 3, "kind": "tool", "name": "pay"}
]');
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {}}]');
select is(private.request_review(
  p_task_id => (select id from made), p_epoch => tests.epoch_of((select id from made)), p_seq => 2,
  p_question => 'May I?', p_untried => '[3]'
), 'parked', 'the task waits for the answer');
select results_eq(
  'select seq, state from public.task_steps order by seq', $$values (1, 'done'), (2, 'started')$$,
  'a call that was not sent is removed; the one that is asked about stays'
);

select * from finish();
rollback;
