begin;
set local search_path = public, extensions;
select plan(3);

create temp table slow on commit drop as select tests.create_task() as id;
select tests.claim((select id from slow));
select private.begin_steps((select id from slow), tests.epoch_of((select id from slow)), 30, '[{"seq": 1, "kind": "model"}]');
select private.yield_task((select id from slow), tests.epoch_of((select id from slow)), '[]', '{"seq": 1, "input_tokens": 9, "output_tokens": 5, "is_final": true}');
select is(
  (select error ->> 'code' from public.tasks where id = (select id from slow)), 'MODEL_CALL_UNFINISHED',
  'a call that had a worker to itself is not made a third time'
);
select is((select reason from private.dead_letters), 'deliveries_exhausted', 'a dead letter is written');
select is((select output_tokens from public.tasks where id = (select id from slow)), 5::bigint, 'its usage is recorded anyway');

select * from finish();
rollback;
