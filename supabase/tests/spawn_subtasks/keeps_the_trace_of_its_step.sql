begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_family(0) as id;
update public.tasks set traceparent = 'of the parent', tracestate = 'vendor=1' where id = (select id from made);

select private.spawn_subtasks((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 2, "agent": "worker-agent", "input": {}, "traceparent": "of the step"},
  {"seq": 3, "agent": "worker-agent", "input": {}}]');

select results_eq(
  $$select parent_step_seq, traceparent from public.tasks where parent_id = (select id from made) order by 1$$,
  $$values (2, 'of the step'), (3, 'of the parent')$$,
  'the span of the step is used, or else that of the parent');
select is(
  (select count(*) from public.tasks where tracestate = 'vendor=1')::int, 3, 'the trace state is passed on');

select * from finish();
rollback;
