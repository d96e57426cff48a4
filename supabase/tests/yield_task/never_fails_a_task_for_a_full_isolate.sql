begin;
set local search_path = public, extensions;
select plan(9);

create temp table made on commit drop as select tests.create_task() as id;
update public.tasks set max_deliveries = 2;
create function pg_temp.yield() returns boolean language sql as $$
  update public.tasks set run_after = null;
  select private.yield_task((select id from made), tests.claim((select id from made)));
$$;

select pg_temp.yield();
select pg_temp.yield();
select is((select array[deliveries, yields] from public.tasks), array[0, 2], 'returns are counted, but not as deliveries');
select ok(not (select runs_exclusively from public.tasks), 'twice it runs beside others');
select pg_temp.yield();
select ok((select runs_exclusively from public.tasks), 'after the third return it is to run alone');
select is((select run_after from public.tasks), null, 'and does not wait');
select pg_temp.yield();
select ok(
  (select run_after between clock_timestamp() and clock_timestamp() + interval '5 seconds' from public.tasks),
  'a worker of its own did not help: it waits'
);
select matches((select logs[cardinality(logs)] from public.tasks), 'no step ended in 4 workers. Begun: nothing', 'its log says so');
select is((select reason from public.stuck_tasks), 'no_progress', 'operators see it');
select pg_temp.yield() from generate_series(1, 20);
select ok(
  (select status = 'pending' and run_after <= clock_timestamp() + interval '1 minute' from public.tasks),
  'it never fails, and is tried each minute'
);

update public.tasks set run_after = null;
select private.record_steps((select id from made), tests.claim((select id from made)), 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {}}]');
select is((select array[yields, runs_exclusively::int] from public.tasks), array[0, 0], 'a step that ends resets the count');

select * from finish();
rollback;
