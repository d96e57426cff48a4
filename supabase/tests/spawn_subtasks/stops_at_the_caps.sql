begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task('{"max_depth": 0}') as id;
select tests.claim((select id from made));
create function pg_temp.spawn(p_count int default 1) returns text language sql as $$
  select tests.code_of(format('select private.spawn_subtasks(%L, %s, 30, %L)', (select id from made), tests.epoch_of((select id from made)), (
    select jsonb_agg(jsonb_build_object('seq', n + 1, 'agent', 'worker-agent', 'input', '{}'::jsonb))
    from generate_series(1, p_count) as n
  )))
$$;

select is(pg_temp.spawn(), 'DEPTH_EXCEEDED', 'the depth is exceeded');
update public.tasks set budget = '{"max_tasks": 1, "max_depth": null}';
select is(pg_temp.spawn(), 'TASKS_EXCEEDED', 'the number of tasks is exceeded');
update public.tasks set budget = '{"max_tasks": 2, "max_depth": null}';
select is(pg_temp.spawn(2), 'TASKS_EXCEEDED', 'one turn cannot exceed the number of tasks');
update public.tasks set budget = '{"max_tasks": null, "max_depth": null}';
select is(pg_temp.spawn(1001), 'CHILDREN_EXCEEDED', 'the number of children is exceeded');
select is((select count(*)::int from public.tasks), 1, 'no subtask is created');

select * from finish();
rollback;
