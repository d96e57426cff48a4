begin;
set local search_path = public, extensions;
select plan(8);

-- A parked master, its running child, and below that two waiting grandchildren and one that awaits a review.
create temp table made on commit drop as select tests.create_family(1) as id;
grant select on made to authenticated;
select private.park_task((select id from made), tests.epoch_of((select id from made)));
create temp table child on commit drop as select task_id as id, epoch from private.claim_tasks('w1', 1, 30);
select private.begin_steps(id, epoch, 30, (
  select jsonb_agg(jsonb_build_object('seq', n, 'kind', 'system', 'name', 'create_subtask', 'call_id', 'c' || n))
  from generate_series(1, 3) as n
)) from child;
select private.spawn_subtasks(id, epoch, 30, (
  select jsonb_agg(jsonb_build_object('seq', n, 'agent', 'worker-agent', 'input', '{}'::jsonb))
  from generate_series(1, 3) as n
)) from child;
create temp table asking on commit drop as select task_id as id, epoch from private.claim_tasks('w1', 1, 30);
select private.request_review(id, epoch, 1, 'Go on?', null, null) from asking;

select tests.act_as_user('owner');
select is(public.cancel_task((select id from made)), 5, 'five tasks end or are marked');
select tests.act_as_nobody();

select is((select count(*) from public.tasks where status = 'cancelled')::int, 4, 'waiting tasks end immediately');
select results_eq(
  $$select pending_children from public.tasks where depth < 2 order by depth$$,
  array[1, 0], 'each parent counts the children that have not ended'
);
select is(
  (select count(*) from public.task_steps where state = 'failed' and output ->> 'status' = 'cancelled')::int, 3,
  'the steps that wait for them get their result'
);
select is((select count(*) from public.human_reviews where answered_at is null)::int, 0, 'pending reviews are closed');
select results_eq(
  $$
    select task.depth, event.type from public.task_events as event
    join public.tasks as task on task.id = event.task_id
    where event.type in ('task.cancelled', 'subtask.finished')
    order by event.id
  $$,
  $$values
    (2, 'task.cancelled'), (1, 'subtask.finished'),
    (2, 'task.cancelled'), (1, 'subtask.finished'),
    (2, 'task.cancelled'), (1, 'subtask.finished'),
    (0, 'task.cancelled')$$,
  'each end is reported once, and once to its parent, from the bottom up'
);

select private.finish_task(id, epoch, '{}') from child;
select is(
  (select array_agg(distinct status || ' ' || pending_children) from public.tasks), array['cancelled 0'],
  'the running task ends with its next report'
);
select is((select count(*) from pgmq.q_agent_tasks)::int, 0, 'the queue is empty');

select * from finish();
rollback;
