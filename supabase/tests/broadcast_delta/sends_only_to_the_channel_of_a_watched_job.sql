begin;
set local search_path = public, extensions;
select plan(9);

select tests.quiet_realtime();
create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
select tests.claim((select id from child));

create function pg_temp.send(p_text text) returns boolean language sql as $$
  select private.broadcast_delta(id, tests.epoch_of(id), 1, 5, p_text) from child;
$$;

select ok(not pg_temp.send('Roses'), 'unwatched text is not sent');
select is(private.watched_seconds((select id from child)), 0::numeric, 'the worker learns that nobody watches');

select private.watch_task((select id from made));
select cmp_ok(private.watched_seconds((select id from child)), '>', 55::numeric, 'watching a job covers all its tasks');
select ok(pg_temp.send(' are red'), 'watched text is sent');
select results_eq(
  $$select topic, payload -> 'data' from realtime.messages where event = 'model.delta'$$,
  $$select 'supaswarm:master:' || id, '{"step_seq": 1, "offset": 5, "text": " are red"}'::jsonb from made$$,
  'it is sent once, on the channel of the job, with its position in the answer'
);
select ok(
  not private.broadcast_delta((select id from child), 0, 1, 0, 'Late'), 'an old lease sends nothing'
);

update private.watched_jobs set watched_until = clock_timestamp();
select ok(not pg_temp.send('!'), 'a watch expires');

select private.watch_task((select id from child));
insert into private.settings (key, value) values ('realtime_messages_per_second', '0')
on conflict (key) do update set value = excluded.value;
select ok(not pg_temp.send('!'), 'nothing is sent when the message budget is exhausted');
select private.emit_event(id, (select id from made), 'model.completed', '{"step_seq": 1}') from child;
select isnt_empty($$select from realtime.messages where event = 'model.completed'$$, 'events are still sent');

select * from finish();
rollback;
