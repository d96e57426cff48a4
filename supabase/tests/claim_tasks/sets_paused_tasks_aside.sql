begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_agent('held');
select tests.create_agent('free');
select private.create_task('held', '{}') from generate_series(1, 40);
select private.create_task('free', '{}') from generate_series(1, 3);

select public.pause_work('agent', 'held', 'A test');
select is_empty($$select task_id from private.claim_tasks('worker', 5, 60)$$, 'paused tasks are not claimed');
select is(
  (select count(*)::int from private.paused_tasks where kind = 'agent' and name = 'held'), 40, 'all paused ones are noted'
);
select is(
  (select count(*)::int from pgmq.q_agent_tasks), 3, 'they have no message'
);
select is(
  (select count(*)::int from private.claim_tasks('worker', 5, 60)), 3, 'the next claim takes those behind them'
);

select public.resume_work('agent', 'held');
select is(
  (select count(*)::int from public.tasks where agent_slug = 'held' and run_after is null), 40, 'the end of the pause returns them'
);
select is(
  (select array_agg(claimed.task_id order by claimed.task_id) from private.claim_tasks('worker', 40, 60) as claimed),
  (select array_agg(id order by id) from public.tasks where agent_slug = 'held'), 'and they are claimed');

select * from finish();
rollback;
