begin;
set local search_path = public, extensions;
select plan(6);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.family_with_own_channels() as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
select is_empty($$select from realtime.messages$$, 'nothing is sent while nobody has joined a channel');

select ok(
  tests.join_channel('owner', 'supaswarm:task:' || (select id from child)),
  'the owner has joined the subtask''s channel'
);
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 1, 30, true);
create temp table sent on commit drop as
  select message.*, row_number() over (order by message.ctid) as place from realtime.messages as message;

select results_eq(
  $$select topic, event from sent order by place$$,
  $$select 'supaswarm:task:' || id, type from child, unnest(array['task.started', 'model.started']) as type$$,
  'only that channel receives the events, in order'
);
select is_empty(
  $$select from sent where not private or extension <> 'broadcast' or payload ->> 'id' <> id::text$$,
  'the messages equal those of realtime.send()'
);
select is_empty(
  $$select from sent where not exists (select from public.task_events as event where event.id = (sent.payload ->> 'seq')::bigint)$$,
  'each message names its trace row'
);
select private.emit_event(id, id, 'data.saved') from made;
select is((select count(*) from realtime.messages), 2::bigint, 'other channels still receive nothing');

select * from finish();
rollback;
