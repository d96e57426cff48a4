begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
update private.quotas set amount = 1 where name = 'waiting_tasks';
create function pg_temp.spawn(p_count int) returns text language sql as $$
  select tests.code_of(format('select private.spawn_subtasks(%L, %s, 30, %L)', (select id from made), tests.epoch_of((select id from made)), (
    select jsonb_agg(jsonb_build_object('seq', n + 1, 'agent', 'worker-agent', 'input', '{}'::jsonb))
    from generate_series(1, p_count) as n
  )))
$$;

select is(pg_temp.spawn(2), 'QUOTA_EXCEEDED', 'subtasks above the quota of waiting tasks are refused');
select is(pg_temp.spawn(1), 'none', 'subtasks within the quota are accepted');

select * from finish();
rollback;
