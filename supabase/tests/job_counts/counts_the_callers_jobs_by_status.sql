begin;
set local search_path = public, extensions;
select plan(5);
select tests.create_task() from generate_series(1, 3);
update public.tasks set status = 'failed', error = '{}', finished_at = now()
where id = (select id from public.tasks order by id limit 1);
select tests.create_task(p_owner => 'stranger');
select tests.create_family(2);

select tests.act_as_user('owner');
select results_eq(
  'select status, job_count from public.job_counts()',
  $$values ('failed', 1::bigint), ('running', 3)$$,
  'only the caller''s jobs are counted, without subtasks'
);
select results_eq(
  $$select status, job_count from public.job_counts('{"status": ["failed", "cancelled"]}')$$,
  $$values ('failed', 1::bigint)$$,
  'the filters apply'
);
select is(tests.code_of('select * from public.job_counts(''{"colour": 1}'')'), 'QUERY_INVALID', 'the filters are those of list_jobs()');
select is(
  (select sum(job_count) from public.job_counts()), (select count(*)::numeric from public.list_jobs()),
  'the count equals the length of the list'
);
select tests.act_as_anon();
select is(tests.code_of('select * from public.job_counts()'), '42501', 'the publishable key by itself counts nothing');
select tests.act_as_nobody();
select * from finish();
rollback;
