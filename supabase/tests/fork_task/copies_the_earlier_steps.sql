begin;
set local search_path = public, extensions;
select plan(7);

create temp table made on commit drop as select tests.create_task('{"max_steps": 9}') as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "output": {"text": "a"}, "usage": {"model": "m", "key_source": "none", "input_tokens": 5, "output_tokens": 5}},
  {"seq": 2, "kind": "system", "name": "save_intermediate_data", "state": "done", "input": {"arguments": {"key": "k", "value": 1}}, "output": {"key": "k"}, "data": {"k": 1}},
  {"seq": 3, "kind": "model", "state": "done", "output": {"text": "b"}},
  {"seq": 4, "kind": "system", "name": "save_intermediate_data", "state": "done", "input": {"arguments": {"key": "k", "value": 2}}, "output": {"key": "k"}, "data": {"k": 2}}
]');
select private.finish_task((select id from made), tests.epoch_of((select id from made)), '{}');

select tests.act_as_user('owner');
create temp table fork on commit drop as select public.fork_task((select id from made), 3) as id;
select tests.act_as_nobody();

select is(
  (select (master_task_id = id, status, input, created_by, budget, run_after is null)::text from public.tasks where id = (select id from fork)),
  (select (true, 'pending', input, created_by, budget, true)::text from public.tasks where id = (select id from made)),
  'it is a separate job with the same input, owner and budget'
);
select results_eq(
  'select seq, output from public.task_steps where task_id = (select id from fork) order by seq',
  $$values (1, '{"text": "a"}'::jsonb), (2, '{"key": "k"}')$$, 'it has the earlier steps'
);
select is((select intermediate_data from public.tasks where id = (select id from fork)), '{"k": 1}'::jsonb, 'it has the data of that step');
select is((select input_tokens from private.job_totals where master_task_id = (select id from fork)), 0::bigint, 'it has spent nothing');
select is((select payload #>> '{forked_from,step_seq}' from public.task_events where task_id = (select id from fork)), '3', 'the trace names its origin');
select is((select status from public.tasks where id = (select id from made)), 'completed', 'the first job is unchanged');
select isnt(tests.claim((select id from fork)), null, 'a worker claims it');

select * from finish();
rollback;
