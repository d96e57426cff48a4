begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select private.yield_task((select id from made), 1);
select tests.claim((select id from made));

create temp table answer on commit drop as
  select finished.epoch, finished.status
  from private.finish_tasks((
    select jsonb_agg(jsonb_build_object('id', id, 'held_epoch', epoch.n, 'output', epoch.n, 'reference', null) order by epoch.n)
    from made, generate_series(1, 2) as epoch (n)
  )) as finished;

select results_eq(
  'select epoch, status from answer order by epoch',
  $$values (1::bigint, 'lost'), (2::bigint, 'completed')$$,
  'of two ends of a task in one call, the one with an older epoch is lost'
);
select is((select output from public.tasks join made using (id)), '2', 'the output comes from the current lease');
select is(
  (select count(*) from public.task_events where type = 'task.completed')::int, 1, 'the end is reported once'
);

select * from finish();
rollback;
