begin;
set local search_path = public, extensions;
select plan(2);
-- Compares the effect of the queue functions with the task's last event.
select tests.create_task();
create temp table parked on commit drop as select tests.create_family(1) as id;
select private.request_review(id, tests.claim(id), 1, 'May I?') from public.tasks where parent_id is not null;
create temp table ended on commit drop as select tests.create_task() as id;
select public.cancel_task(id) from ended;
select public.continue_task(id, '"Again"') from ended;
create temp table failing on commit drop as select tests.create_task() as id;
select public.cancel_task(id) from failing;
select public.retry_task(id) from failing;
create temp table cancelled on commit drop as select tests.create_task() as id;
select public.cancel_task(id) from cancelled;

select set_eq('select distinct status from public.tasks',
  $$values ('pending'), ('running'), ('needs_human_review'), ('cancelled')$$, 'tasks in several states are compared');
select is_empty(
  $$select task.id, task.status, event.type, event.payload
    from public.tasks as task
    cross join lateral (
      select type, payload from public.task_events
      where task_id = task.id and type like 'task.%'
      order by id desc limit 1
    ) as event
    where task.status is distinct from private.status_after(event.type, event.payload)$$,
  'the last event of each task determines its status'
);
select * from finish();
rollback;
