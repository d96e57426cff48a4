begin;
set local search_path = public, extensions;
select plan(4);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.family_with_own_channels() as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);

select ok(
  tests.join_channel('owner', 'supaswarm:master:' || (select id from made)),
  'the owner has joined the channel of the job'
);
create temp table earlier on commit drop as select max(id) as id from public.task_events;
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 1, 30, true);

select set_eq(
  $$select (payload ->> 'seq')::bigint, count(*) from realtime.messages where payload ? 'seq' group by 1$$,
  $$select id, 1::bigint from public.task_events where id > (select id from earlier)$$,
  'from now on each event is sent as one message'
);
select is_empty(
  $$select from realtime.messages where topic not like 'supaswarm:master:' || (select id from made)$$,
  'it is sent on the channel of the job, also for a subtask'
);
select ok(
  exists (select from realtime.messages where payload ->> 'task_id' = (select id::text from child)),
  'the message names its task'
);

select * from finish();
rollback;
