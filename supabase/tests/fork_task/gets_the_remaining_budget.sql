begin;
set local search_path = public, extensions;
select plan(4);
create temp table source on commit drop as
  select tests.create_task(p_budget => '{"max_input_tokens": 100, "max_tasks": 3, "max_steps": 9, "max_output_tokens": null}') as id;
grant select on source to authenticated;
update private.job_totals set input_tokens = 60, output_tokens = 7, task_count = 2
where master_task_id = (select id from source);

select tests.act_as_user('owner');
create temp table fork on commit drop as select public.fork_task((select id from source), 1) as id;
select tests.act_as_nobody();

select is(
  (select budget from public.tasks where id = (select id from fork)),
  '{"max_input_tokens": 40, "max_tasks": 2, "max_steps": 9, "max_output_tokens": null}'::jsonb,
  'the job''s spending is deducted; the fork takes the place of one of the job''s tasks'
);
select is(
  (select budget ->> 'max_input_tokens' from public.tasks where id = (select id from source)), '100',
  'the job''s own budget is unchanged'
);

update private.job_totals set input_tokens = 100 where master_task_id = (select id from source);
select throws_ok(
  format('select private.fork_task(%L, 1)', (select id from source)),
  'PT422', null, 'a job that has used up a cap cannot be forked'
);
select is(
  (select count(*)::int from public.tasks where parent_id is null), 2, 'the refused fork leaves no new job'
);
select * from finish();
rollback;
