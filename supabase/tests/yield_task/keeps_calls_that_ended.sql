begin;
set local search_path = public, extensions;
select plan(1);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model"}, {"seq": 2, "kind": "tool", "name": "pay"}
]');
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "output": {}},
  {"seq": 2, "kind": "tool", "name": "pay", "state": "done", "output": {}}
]');
select private.yield_task((select id from made), tests.epoch_of((select id from made)), '[2]');
select results_eq(
  'select seq, state from public.task_steps order by seq', $$values (1, 'done'), (2, 'done')$$,
  'a call that has a result stays, whatever its worker says'
);

select * from finish();
rollback;
