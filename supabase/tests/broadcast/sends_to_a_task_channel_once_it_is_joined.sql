begin;
set local search_path = public, extensions;
select plan(5);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.create_task() as id;
select ok(
  tests.join_channel('owner', 'supaswarm:task:' || (select id from made)),
  'the owner has joined the task''s channel'
);
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 1, 30, true);
create temp table sent on commit drop as
  select message.*, row_number() over (order by message.ctid) as place
  from realtime.messages as message
  where topic like '%' || (select id from made);

select results_eq(
  $$select event from sent where topic like 'supaswarm:master:%' order by place$$,
  $$values ('task.created'), ('task.started'), ('model.started')$$,
  'the master channel receives every event in order'
);
select results_eq(
  $$select event from sent where topic like 'supaswarm:task:%' order by place$$,
  $$values ('task.started'), ('model.started')$$,
  'the task channel receives them too, once somebody has joined it'
);
select is_empty(
  $$select from sent where not private or extension <> 'broadcast' or payload ->> 'id' <> id::text$$,
  'the messages equal those of realtime.send()'
);
select set_eq(
  $$select (payload ->> 'seq')::bigint from sent$$,
  $$select id from public.task_events where task_id = (select id from made)$$,
  'each message names its trace row'
);

select * from finish();
rollback;
