begin;
set local search_path = public, extensions;
select plan(9);
create temp table job (place int, id uuid) on commit drop;
grant select on job to authenticated;
insert into job select place, tests.create_task() from generate_series(1, 5) as place;
-- Some share the same instant, so only the id orders them.
update public.tasks set created_at = now() - interval '1 hour' * ceil(job.place / 2.0) from job where job.id = tasks.id;
select tests.create_task(p_owner => 'stranger');
create temp table family on commit drop as select tests.create_family(2) as id;
grant select on family to authenticated;
update private.job_totals set cost_micro_usd = 70, input_tokens = 9 where master_task_id = (select id from family);
insert into public.human_reviews (task_id, seq, question)
select id, 1, 'May I?' from public.tasks where parent_id = (select id from family) limit 1;
update public.tasks set status = 'needs_human_review', lease_expires_at = null, worker_id = null
where id in (select task_id from public.human_reviews);
-- The list is as a user sees it; its order is compared with a plain query.
create function pg_temp.page(p_before jsonb, p_limit int) returns setof uuid language sql
  as $$ select id from public.list_jobs('{}', p_before, p_limit) $$;

select tests.act_as_user('owner');
select results_eq(
  'select pg_temp.page(null, 50)',
  'select id from public.tasks where parent_id is null order by created_at desc, id desc',
  'the caller''s jobs are listed newest first, without subtasks and other users'' jobs'
);
create temp table walked (place int generated always as identity, id uuid) on commit drop;
do $$
declare
  v_last jsonb;
  v_job record;
  v_count int := 1;
begin
  while v_count > 0 loop
    v_count := 0;
    for v_job in select * from public.list_jobs('{}', v_last, 2) loop
      insert into walked (id) values (v_job.id);
      v_last := to_jsonb(v_job);
      v_count := v_count + 1;
    end loop;
  end loop;
end $$;
select results_eq(
  'select id from walked order by place',
  'select id from public.tasks where parent_id is null order by created_at desc, id desc',
  'pages list each job once, including jobs of the same instant'
);
select results_eq(
  'select task_count, open_review_count, input_tokens, cost_micro_usd from public.list_jobs() where id = (select id from family)',
  'values (3, 1::bigint, 9::bigint, 70::bigint)',
  'each row has the usage of the whole job and the number of tasks that wait for a person'
);
select is(
  (select input_head from public.list_jobs('{}', null, 1)), '{"question": "?"}', 'each row has the beginning of its input'
);
select is(tests.code_of('select * from public.list_jobs(''{}'', null, 0)'), 'QUERY_INVALID', 'a page has at least one row');
select is(tests.code_of('select * from public.list_jobs(''{}'', null, 1001)'), 'QUERY_INVALID', 'a page has at most 1000 rows');
select is(
  tests.code_of('select * from public.list_jobs(''{}'', ''{"id": "x"}'')'), 'QUERY_INVALID',
  'a page starts after a job, or at the newest'
);
select tests.act_as_user('nobody');
select is_empty('select * from public.list_jobs()', 'a user without jobs gets an empty list');
select tests.act_as_anon();
select is(tests.code_of('select * from public.list_jobs()'), '42501', 'the publishable key by itself lists nothing');
select tests.act_as_nobody();
select * from finish();
rollback;
