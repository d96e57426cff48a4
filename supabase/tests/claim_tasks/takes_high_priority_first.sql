begin;
set local search_path = public, extensions;
select plan(1);

select tests.create_task(p_priority => 'low'), tests.create_task(p_priority => 'normal'), tests.create_task(p_priority => 'high');

select results_eq(
  $$select task.priority from private.claim_tasks('w1', 3, 30) with ordinality as claim (task_id, epoch, context, n)
    join public.tasks as task on task.id = claim.task_id order by n$$,
  array['high', 'normal', 'low'],
  'high comes before normal, normal before low'
);

select * from finish();
rollback;
