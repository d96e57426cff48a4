begin;
set local search_path = public, extensions;
select plan(8);
select tests.create_user(name) from unnest(array['operator', 'stranger']) as name;
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
select tests.create_agent('other-agent');
create temp table job on commit drop as
  select owner.place, tests.create_task(p_owner => owner.name) as id
  from unnest(array['ada', 'ada', 'bob', 'ada', 'bob']) with ordinality as owner (name, place);
update public.tasks as task
set status = 'failed', error = jsonb_build_object(
    'code', case when place = 4 then 'DOWN' else 'LATE' end,
    'message', format('Job %s (%s) waited %s.5 s', gen_random_uuid(), case when place = 5 then 'b' else 'a' end, place)
  ),
  agent_slug = case when place = 5 then 'other-agent' else 'worker-agent' end,
  finished_at = case when place = 1 then '2026-11-01 23:30 UTC' else '2026-11-02 00:30 UTC' end::timestamptz
from job where job.id = task.id;
select tests.create_task();

select tests.act_as_user('operator');
select results_eq(
  'select agent_slug, error_code, cause, job_count, last_failed_at, days from public.operator_failure_groups() order by 4 desc, 1, 2',
  $$values
    ('worker-agent', 'LATE', 'Job … (a) waited # s', 3::bigint, '2026-11-02 00:30 UTC'::timestamptz, '{"2026-11-01": 1, "2026-11-02": 2}'::jsonb),
    ('other-agent', 'LATE', 'Job … (b) waited # s', 1, '2026-11-02 00:30 UTC', '{"2026-11-02": 1}'),
    ('worker-agent', 'DOWN', 'Job … (a) waited # s', 1, '2026-11-02 00:30 UTC', '{"2026-11-02": 1}')$$,
  'failed jobs are grouped by agent, error code and cause, with the number of each UTC day'
);
select results_eq(
  $$select agent_slug, job_count from public.operator_failure_groups('{"owner": "bob@example.test", "status": "pending"}') order by 1$$,
  $$values ('other-agent', 1::bigint), ('worker-agent', 1)$$,
  'the filters of the list apply, but that of the status does not'
);
select results_eq(
  $$select count(*) from public.operator_list_jobs('{"error_code": "LATE", "agent": "worker-agent"}')$$, 'values (3::bigint)',
  'the list of all jobs shows the jobs of a group'
);
select results_eq(
  $$select sum(job_count) from public.operator_job_counts('{"cause": ["Job … (b) waited # s"]}')$$, 'values (1::numeric)',
  'a cause of a group is a filter of the list'
);
select is(
  (select count(*) from public.operator_list_jobs('{"cause": null}')), 6::bigint, 'a cause of null does not filter'
);
select is(tests.code_of($$select * from public.operator_list_jobs('{"cause": 5}')$$), 'QUERY_INVALID', 'a cause is a text');
select is_empty(
  'select from public.operator_list_jobs() where input_head is not null', 'a list of all jobs shows nothing of their inputs'
);
select tests.act_as_user('stranger');
select is(tests.code_of('select * from public.operator_failure_groups()'), 'INSUFFICIENT_SCOPE', 'other users are refused');
select tests.act_as_nobody();

select * from finish();
rollback;
