begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
create function pg_temp.record(p_text text) returns boolean language sql as $$
  select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(jsonb_build_object(
    'seq', 1, 'kind', 'tool', 'state', 'done', 'name', 'read', 'output', jsonb_build_object('text', p_text))))
$$;

select pg_temp.record('first'), pg_temp.record('second');

select is((select output ->> 'text' from public.task_steps), 'first', 'a second result changes nothing');
select is((select count(*) from public.task_events where type = 'tool.completed')::int, 1, 'the second result is not reported');
select is(
  (select state || ' ' || (output ->> 'text') from private.begin_steps(
    (select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "tool", "name": "read"}]')),
  'done first', 'a step that has ended does not start again'
);
select is((select count(*) from public.task_events where type = 'tool.started')::int, 0, 'and no start is reported');
select is(
  tests.code_of($$select private.record_steps((select id from made), 0, 30, '[]')$$),
  'LEASE_LOST', 'a stale epoch is refused'
);

select * from finish();
rollback;
