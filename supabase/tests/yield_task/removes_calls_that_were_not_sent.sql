begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model"}, {"seq": 2, "kind": "tool", "name": "pay"},
  {"seq": 3, "kind": "tool", "name": "pay"}, {"seq": 4, "kind": "system", "name": "create_subtask"}
]');
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {}}]');
select private.yield_task((select id from made), tests.epoch_of((select id from made)), '[1, 3, 4]');
select results_eq(
  'select seq, state from public.task_steps order by seq', $$values (1, 'done'), (2, 'started'), (4, 'started')$$,
  'an unsent call is removed; calls that may have been sent and other steps stay'
);

create temp table second on commit drop as select tests.claim((select id from made), 'w2') as epoch;
select private.yield_task((select id from made), tests.epoch_of((select id from made)), '[2]');
select is((select count(*) from public.task_steps where seq = 2)::int, 1, 'a worker cannot remove what another worker began');

select tests.claim((select id from made), 'w3');
select is(tests.code_of($$select private.yield_task((select id from made), (select epoch from second), '[2]')$$), 'LEASE_LOST', 'a worker without the lease cannot remove anything');

select * from finish();
rollback;
