begin;
set local search_path = public, extensions;
select plan(4);

update private.quotas set amount = 3 where name = 'waiting_tasks';
select tests.create_task() from generate_series(1, 2);
select private.create_task('worker-agent', '{}', tests.user_id('owner'), p_run_after => now() + interval '1 hour');
create function pg_temp.create_another() returns text language sql as $$
  select tests.code_of($call$select private.create_task('worker-agent', '{}', tests.user_id('owner'))$call$)
$$;

select is(pg_temp.create_another(), 'QUOTA_EXCEEDED', 'delayed tasks count as waiting');
select count(*) from private.claim_tasks('w1', 1, 30);
select is(pg_temp.create_another(), 'none', 'a running task frees a place');
select is(pg_temp.create_another(), 'QUOTA_EXCEEDED', 'only one place is free');
insert into private.quotas values ('waiting_tasks', tests.user_id('owner'), null);
select is(pg_temp.create_another(), 'none', 'a user''s own row raises the quota');

select * from finish();
rollback;
