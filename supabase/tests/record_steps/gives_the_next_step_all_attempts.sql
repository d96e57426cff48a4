begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
create function pg_temp.record(p_seq int, p_next jsonb) returns boolean language sql as $$
  select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(jsonb_build_object(
    'seq', p_seq, 'kind', 'model', 'state', 'done', 'output', '{}'::jsonb)), p_next)
$$;
create function pg_temp.counts() returns int[] language sql as $$
  select array[attempts, rate_limit_waits, deliveries] from public.tasks
$$;
update public.tasks set attempts = 2, rate_limit_waits = 7, deliveries = 3;

select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model"}]');
select is(pg_temp.counts(), array[2, 7, 3], 'a step that begins keeps the failures so far');
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[]', '[]');
select is(pg_temp.counts(), array[2, 7, 3], 'a step without an end is not progress');
select pg_temp.record(1, '[{"seq": 2, "kind": "model"}]');
select is(pg_temp.counts(), array[0, 0, 1], 'the next step does not inherit the failures of a completed one');

update public.tasks set attempts = 2, deliveries = 3;
select pg_temp.record(2, '[]');
select is(pg_temp.counts(), array[2, 0, 1], 'the last step keeps its count for later readers');
select private.finish_task((select id from made), tests.epoch_of((select id from made)), '{}');
select is(pg_temp.counts(), array[2, 0, 1], 'the count remains after the task has ended');

select * from finish();
rollback;
