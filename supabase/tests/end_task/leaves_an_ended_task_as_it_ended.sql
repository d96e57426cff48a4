begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_family(2) as id;
create temp table child on commit drop as
select id from public.tasks where parent_id = (select id from made) order by id limit 1;
select private.end_task(id, 'completed', '"first"') from child;

select is(private.end_task(id, 'failed', null, '{"code": "INTERNAL", "message": "x"}'), false, 'a second end is refused')
from child;
select results_eq(
  'select status, output, error from public.tasks where id = (select id from child)',
  $$values ('completed', '"first"'::jsonb, null::jsonb)$$, 'the first end stays'
);
select is((select pending_children from public.tasks where id = (select id from made)), 1, 'its parent counts it once');
select is(
  (select count(*)::int from public.task_events where type in ('task.completed', 'task.failed', 'subtask.finished')), 2,
  'its end has one event, and one for its parent'
);

select * from finish();
rollback;
