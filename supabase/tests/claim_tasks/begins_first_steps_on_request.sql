begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as
  select tests.create_task() as plain, tests.create_task('{"max_steps": 5}') as capped;
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 10, 30);

select is((select count(*) from claimed)::int, 2, 'both tasks are claimed');
select results_eq(
  $$select seq, kind, state, epoch from public.task_steps where task_id = (select plain from made)$$,
  $$select 1, 'model', 'started', epoch from public.tasks where id = (select plain from made)$$,
  'the first step is written under the epoch of the claim'
);
select is(
  (select context -> 'steps' -> 0 ->> 'state' from claimed where task_id = (select plain from made)), 'started',
  'the worker gets the step'
);
select is_empty(
  $$select from public.task_steps where task_id = (select capped from made)$$,
  'where a budget must be checked, the worker begins the step'
);

select * from finish();
rollback;
