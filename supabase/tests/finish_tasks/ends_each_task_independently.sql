begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as
  select name, tests.create_task() as id from unnest(array['held', 'lost', 'cancelled']) as name;
select tests.claim((select id from made where name = 'held'));
select public.cancel_task((select id from made where name = 'cancelled'));

create temp table answer on commit drop as
  select made.name, finished.status, finished.epoch
  from private.finish_tasks((
    select jsonb_agg(jsonb_build_object(
      'id', id, 'held_epoch', case name when 'lost' then 0 else tests.epoch_of(id) end, 'output', name, 'reference', null
    ))
    from made
  )) as finished
  join made on made.id = finished.task_id;

select results_eq(
  'select name, status from answer order by name',
  $$values ('cancelled', 'cancelled'), ('held', 'completed'), ('lost', 'lost')$$,
  'a lost lease and a cancelled job do not prevent others from ending'
);
select is(
  (select output from public.tasks where id = (select id from made where name = 'held')), '"held"',
  'the output is stored'
);
select is(
  (select status from public.tasks where id = (select id from made where name = 'lost')), 'running',
  'a task whose lease is lost is unchanged'
);
create temp table family on commit drop as select tests.create_family(1) as id;
select results_eq(
  $$select status from private.finish_tasks((
    select jsonb_build_array(jsonb_build_object('id', id, 'held_epoch', tests.epoch_of(id), 'output', 'early', 'reference', null))
    from family))$$,
  array['parked'], 'a task with a running subtask waits for it'
);
select is_empty(
  $$select * from private.finish_tasks(jsonb_build_array(jsonb_build_object(
    'id', gen_random_uuid(), 'held_epoch', 1, 'output', null))) where status <> 'lost'$$,
  'a task that does not exist counts as lost'
);

select * from finish();
rollback;
