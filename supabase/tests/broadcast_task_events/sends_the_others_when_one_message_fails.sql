begin;
set local search_path = public, extensions;
set local client_min_messages = error;
select plan(3);

create function pg_temp.refuse() returns trigger language plpgsql as $$
begin
  raise exception 'No room for this one';
end;
$$;
create trigger refuse before insert on realtime.messages
  for each row when (new.event = 'model.started') execute function pg_temp.refuse();

select tests.quiet_realtime();
create temp table made on commit drop as select tests.create_task() as id;
select tests.join_channel('owner', 'supaswarm:master:' || (select id from made));
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 1, 30, true);

select is(
  (select array_agg(type order by id) from public.task_events where task_id = (select id from made)),
  array['task.created', 'task.started', 'model.started'],
  'the trace is complete'
);
select is_empty($$select from realtime.messages where event = 'model.started'$$, 'one message could not be sent');
select results_eq(
  $$select split_part(topic, ':', 2) from realtime.messages
    where event = 'task.started' and topic = 'supaswarm:master:' || (select id from made)$$,
  $$values ('master')$$,
  'the other message was sent'
);

select * from finish();
rollback;
