begin;
set local search_path = public, extensions;
select plan(2);

select tests.create_user('owner'), tests.create_agent('worker-agent');
select is(
  tests.code_of($$select private.create_task('worker-agent', '{}', null, p_run_after => now() + interval '367 days')$$),
  'TASK_RUN_AFTER_INVALID', 'a start more than a year away is refused, for the service too'
);
select lives_ok(
  $$select private.create_task('worker-agent', '{}', tests.user_id('owner'), p_run_after => now() + interval '364 days')$$,
  'a start within the year is accepted'
);

select * from finish();
rollback;
