begin;
set local search_path = public, extensions;
select plan(21);
create temp table job (name text, id uuid) on commit drop;
grant select on job to authenticated;
insert into job select name, tests.create_task() from unnest(array['cheap', 'dear', 'failed', 'old']) as name;
select tests.create_agent('other-agent');
update private.job_totals set cost_micro_usd = case job.name when 'cheap' then 5 when 'dear' then 500 end
from job where job.id = master_task_id;
update public.tasks set status = 'failed', error = '{"code": "X"}', finished_at = now(),
  agent_slug = 'other-agent'
where id = (select id from job where name = 'failed');
update public.tasks set created_at = now() - interval '3 days', metadata = '{"customer": "acme", "tries": 5, "tags": ["a"]}'
where id = (select id from job where name = 'old');

create function pg_temp.found(p_filters jsonb) returns text language sql as $$
  select string_agg(job.name, ' ' order by job.name)
  from public.list_jobs(p_filters) as listed
  join pg_temp.job on job.id = listed.id
$$;
select tests.act_as_user('owner');
select is(pg_temp.found('{}'), 'cheap dear failed old', 'no filter returns all jobs');
select is(pg_temp.found('{"status": "failed"}'), 'failed', 'one status can be listed');
select is(pg_temp.found('{"status": ["failed", "pending"]}'), 'cheap dear failed old', 'several statuses can be listed');
select is(pg_temp.found('{"status": null}'), 'cheap dear failed old', 'null does not filter');
select is(pg_temp.found('{"agent": "other-agent"}'), 'failed', 'an agent can be given');
select is(pg_temp.found('{"error_code": ["X", "Y"]}'), 'failed', 'error codes can be given');
select is(pg_temp.found('{"metadata": {"customer": "acme", "tries": "5"}}'), 'old', 'metadata matches numbers written as text');
select is(pg_temp.found('{"metadata": {"tries": 5, "tags": ["a"]}}'), 'old', 'metadata matches values of any type');
select is(pg_temp.found('{"metadata": {"customer": "acme", "tries": 6}}'), null, 'every metadata value must match');
select is(
  pg_temp.found(jsonb_build_object('created_to', now() - interval '1 day')), 'old', 'created_to is the upper bound'
);
select is(
  pg_temp.found(jsonb_build_object('created_from', now() - interval '1 day')), 'cheap dear failed', 'created_from is the lower bound'
);
select is(pg_temp.found('{"min_cost_micro_usd": 6}'), 'dear', 'min_cost_micro_usd is the lower bound');
select is(pg_temp.found('{"max_cost_micro_usd": 6}'), 'cheap', 'max_cost_micro_usd is the upper bound; an unknown cost matches neither');
select is(
  pg_temp.found(jsonb_build_object('id_prefix', left((select id from job where name = 'dear')::text, 34)))
    like '%dear%', true, 'a prefix of an id matches'
);
select is(
  pg_temp.found(jsonb_build_object('id_prefix', upper(replace((select id from job where name = 'dear')::text, '-', '')))),
  'dear', 'a complete id matches in uppercase and without hyphens'
);
select is(
  pg_temp.found(jsonb_build_object('id_suffix', upper(right((select id from job where name = 'dear')::text, 12)))),
  'dear', 'a suffix of an id matches'
);
select is(
  pg_temp.found(jsonb_build_object(
    'id_prefix', left((select id from job where name = 'dear')::text, 8),
    'id_suffix', right((select id from job where name = 'old')::text, 12)
  )),
  'old', 'both ends together distinguish jobs of one moment'
);
select is(pg_temp.found('{"id_prefix": "ffff"}'), null, 'an unknown prefix matches nothing');
select results_eq(
  $$select bad.filters from (values
      ('[]'::jsonb), ('{"owner": "x"}'), ('{"status": 5}'), ('{"id_prefix": "zz"}'), ('{"id_prefix": "%"}'), ('{"id_suffix": "%"}'),
      ('{"created_from": "soon"}'), ('{"min_cost_micro_usd": "much"}'), ('{"metadata": "x"}'), ('{"agent": {}}'),
      ('{"created_by": "00000000-0000-0000-0000-000000000000"}'), ('{"id_prefix": "0123456789012345678901234567890123456"}')
    ) as bad (filters)
    where tests.code_of(format('select * from public.list_jobs(%L)', bad.filters)) <> 'QUERY_INVALID'$$,
  'select null::jsonb where false',
  'unknown or malformed filters are refused'
);
select is(
  pg_temp.found($${"agent": "x' or true --", "status": "failed' or true --"}$$), null, 'a filter is a value, never SQL'
);
select is(
  pg_temp.found(jsonb_build_object('metadata', jsonb_build_object($$customer' or true --$$, 'acme'))), null,
  'a metadata key is never SQL'
);
select tests.act_as_nobody();
select * from finish();
rollback;
