begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
create temp table first on commit drop as select tests.claim((select id from made)) as epoch;

select ok(private.yield_task((select id from made), tests.epoch_of((select id from made))), 'the task is returned');

select is((select array[attempts, deliveries] from public.tasks), array[0, 0], 'it counts neither as an attempt nor as a delivery');
select isnt(tests.claim((select id from made), 'w2'), null, 'the next worker can claim it immediately');
select is(tests.code_of($$select private.yield_task((select id from made), (select epoch from first))$$), 'LEASE_LOST', 'the first worker has lost the lease');

select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {}}]');
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
select is((select deliveries from public.tasks), 0, 'after a completed step the delivery no longer counts');

select * from finish();
rollback;
