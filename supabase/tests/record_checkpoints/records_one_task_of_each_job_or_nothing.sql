begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as
select place, tests.create_task() as id from generate_series(1, 3) as place;
select tests.claim(id) from made;
create function pg_temp.checkpoint(p_place int, p_seq int, p_epoch bigint default null) returns jsonb language sql as $$
  select jsonb_build_object(
    'id', id, 'held_epoch', coalesce(p_epoch, tests.epoch_of(id)),
    'steps', jsonb_build_array(jsonb_build_object(
      'seq', p_seq, 'kind', 'tool', 'state', 'done', 'name', 'look', 'call_id', 'c' || p_seq, 'output', '{"text": "seen"}'::jsonb)),
    'next', jsonb_build_array(jsonb_build_object('seq', p_seq + 1, 'kind', 'model', 'name', 'm')))
  from made where place = p_place;
$$;
create temp table recorded on commit drop as
select * from private.record_checkpoints(
  jsonb_build_array(pg_temp.checkpoint(3, 1), pg_temp.checkpoint(1, 1), pg_temp.checkpoint(3, 5), pg_temp.checkpoint(2, 1)), 30);

select results_eq(
  'select place::int from recorded order by place', '{1,2,4}'::int[], 'the first checkpoint of each job is recorded'
);
select is(
  (select count(*) from recorded join made on made.id = recorded.task_id
    where (recorded.place, made.place) in ((1, 3), (2, 1), (4, 2)) and not recorded.is_cancelled), 3::bigint,
  'each result has its place'
);
select is(
  (select array_agg(format('%s %s', seq, state) order by place, seq) from made join task_steps on task_id = id),
  '{1 done,2 started,1 done,2 started,1 done,2 started}', 'results and intents are stored'
);
select is(
  (select array_agg(type order by event.id) from task_events as event join made on made.id = task_id
    where place = 3 and event.id > (select max(id) from task_events where type = 'model.started' and payload ->> 'step_seq' = '1')),
  '{tool.completed,model.started}', 'each task has its events, in order'
);
select is(
  (select count(*) from task_events where task_id <> master_task_id), 0::bigint, 'they belong to the task''s job'
);

update tasks set cancel_requested_at = now() from made where tasks.id = made.id and place = 2;
select results_eq(
  $$ select is_cancelled from private.record_checkpoints(
    jsonb_build_array(pg_temp.checkpoint(1, 3), pg_temp.checkpoint(2, 3)), 30) order by place $$,
  '{false,true}'::boolean[], 'a task that is to be cancelled is named'
);
select is(
  tests.code_of(format('select private.record_checkpoints(%L, 30)',
    jsonb_build_array(pg_temp.checkpoint(1, 5), pg_temp.checkpoint(3, 3, 1)))), 'LEASE_LOST', 'a lost lease is refused'
);
select is(
  (select count(*) from task_steps join made on made.id = task_id where place = 1 and seq > 4), 0::bigint,
  'and nothing of that call is recorded'
);

select * from finish();
rollback;
