begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task('{"max_depth": 0}') as id;
select tests.claim((select id from made));
create function pg_temp.spawn() returns text language sql as $$
  select tests.code_of(format('select private.spawn_subtasks(%L, 1, 30, %L)', (select id from made),
    '[{"seq": 2, "agent": "worker-agent", "input": {}}]'))
$$;

select is(pg_temp.spawn(), 'DEPTH_EXCEEDED', 'no depth left');
update public.tasks set budget = '{"max_tasks": 1, "max_depth": null}';
select is(pg_temp.spawn(), 'TASKS_EXCEEDED', 'no tasks left');

select * from finish();
rollback;
