begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
create temp table held (n int, epoch bigint) on commit drop;
insert into held select 1, tests.claim((select id from made));
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
insert into held select 2, tests.claim((select id from made));

create temp table answer on commit drop as
  select held.n, finished.status
  from private.finish_tasks((
    select jsonb_agg(jsonb_build_object('id', id, 'held_epoch', held.epoch, 'output', held.n, 'reference', null) order by held.n)
    from made, held
  )) as finished
  join held using (epoch);

select results_eq(
  'select n, status from answer order by n',
  $$values (1, 'lost'), (2, 'completed')$$,
  'of two ends of a task in one call, the one with an older epoch is lost'
);
select is((select output from public.tasks join made using (id)), '2', 'the output comes from the current lease');
select is(
  (select count(*) from public.task_events where type = 'task.completed')::int, 1, 'the end is reported once'
);

select * from finish();
rollback;
