begin;
set local search_path = public, extensions;
select plan(6);

update private.quotas set amount = 2 where name = 'task_creations_per_minute';
select tests.create_task() from generate_series(1, 2);
create function pg_temp.create_another() returns text language sql as $$
  select tests.code_of($call$select private.create_task('worker-agent', '{}', tests.user_id('owner'))$call$)
$$;

select is(pg_temp.create_another(), 'QUOTA_EXCEEDED', 'the third creation in a minute is refused');
select throws_like(
  $$select private.create_task('worker-agent', '{}', tests.user_id('owner'))$$,
  '%task_creations_per_minute of 2%', 'the message names the quota and its size'
);
select is((select count(*) from public.tasks)::int, 2, 'the refused creation leaves nothing');
select lives_ok($$select tests.create_task(p_owner => 'other')$$, 'another user is not affected');
select lives_ok($$select private.create_task('worker-agent', '{}')$$, 'the service is not affected');
update private.quota_minutes set began_at = began_at - interval '61 seconds';
select is(pg_temp.create_another(), 'none', 'the next minute allows more');

select * from finish();
rollback;
