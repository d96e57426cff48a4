begin;
set local search_path = public, extensions;
select plan(5);

select tests.quiet_realtime();
create temp table made on commit drop as
  select tests.create_task() as id from generate_series(1, 3);
select tests.join_channel('owner', 'supaswarm:master:' || id) from made;
create temp table claimed on commit drop as
  select claim.task_id, claim.epoch from private.claim_tasks('w1', 3, 30) as claim;
create temp table answer on commit drop as
  select finished.* from private.finish_tasks((
    select jsonb_agg(jsonb_build_object('id', task_id, 'held_epoch', epoch, 'output', task_id, 'reference', null))
    from claimed
  )) as finished;

select is((select count(*) from answer where status = 'completed')::int, 3, 'every end is answered');
select results_eq(
  $$select status, output, finished_at is not null from public.tasks join made using (id) order by id$$,
  $$select 'completed', to_jsonb(id), true from made order by id$$,
  'each task has its own output'
);
select is_empty('select from pgmq.q_agent_tasks', 'no message remains');
select results_eq(
  $$select payload from public.task_events where type = 'task.completed' order by payload ->> 'output'$$,
  $$select jsonb_build_object('output', id) from made order by id::text$$,
  'each end is in the trace once'
);
select is(
  (select count(*) from realtime.messages where event = 'task.completed' and topic like 'supaswarm:master:%')::int, 3,
  'each end is reported once'
);

select * from finish();
rollback;
