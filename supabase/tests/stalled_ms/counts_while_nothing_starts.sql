begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as first, tests.create_task() as second;
create function pg_temp.shift(p_task uuid, p_type text, p_ago interval) returns void language sql as $$
  update private.task_events set at = clock_timestamp() - p_ago where task_id = p_task and type = p_type;
$$;
create function pg_temp.stalled_seconds(variadic p_tasks uuid[]) returns numeric language sql as $$
  select round((private.stalled_ms(p_tasks) / 1000)::numeric);
$$;

select is(pg_temp.stalled_seconds((select first from made)), 0::numeric, 'a task that waits has not been claimed late');
select count(*) from private.claim_tasks('w1', 10, 30);
select pg_temp.shift(first, 'task.created', '30 seconds'), pg_temp.shift(second, 'task.created', '30 seconds') from made;
select is(
  (select pg_temp.stalled_seconds(first, second) from made), 30::numeric,
  'the time from the creation to the claim counts when nothing else was claimed'
);
select pg_temp.shift(first, 'task.started', '10 seconds') from made;
select is(
  (select pg_temp.stalled_seconds(second) from made), 10::numeric,
  'it counts only since the last claim of another task'
);
update public.tasks set run_after = clock_timestamp() - interval '4 seconds' where id = (select second from made);
select is(
  (select pg_temp.stalled_seconds(second) from made), 4::numeric,
  'a delayed task does not wait before it is due'
);

select * from finish();
rollback;
