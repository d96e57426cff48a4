begin;
set local search_path = public, extensions;
select plan(19);
select tests.create_user(name) from unnest(array['operator', 'stranger']) as name;
select public.grant_scopes(tests.user_id('operator'), '{swarm:operate}');
create temp table made on commit drop as
  select name, tests.create_task() as id from unnest(array['cancelled', 'failed', 'dead', 'opened']) as name;
grant select on made to authenticated;
create function pg_temp.job(p_name text) returns uuid language sql as $$ select id from pg_temp.made where name = p_name $$;
update public.tasks set status = 'failed', error = '{"code": "X"}', finished_at = now()
where id in (pg_temp.job('failed'), pg_temp.job('dead'));
insert into private.dead_letters (task_id, reason, error) values (pg_temp.job('dead'), 'attempts_exhausted', '{}');
create temp table letter on commit drop as select id from private.dead_letters;
grant select on letter to authenticated;

select tests.act_as_user('operator');
select is(public.operator_cancel_job(pg_temp.job('cancelled'), 'It runs wild'), 1, 'an operator cancels a job');
select is(public.operator_retry_task(pg_temp.job('failed'), 'The model is back'), 'pending', 'an operator retries a task');
select is(public.operator_redrive((select id from letter), 'It is repaired'), pg_temp.job('dead'), 'redrives a dead letter');
select isnt(public.operator_open_job(pg_temp.job('opened'), 'Its owner asked'), null, 'opens a job');
select results_eq(
  'select act, operator_email, owner_email, master_task_id, reason from public.operator_acts order by id',
  $$values ('job.cancelled', 'operator@example.test', 'owner@example.test', pg_temp.job('cancelled'), 'It runs wild'),
    ('task.retried', 'operator@example.test', 'owner@example.test', pg_temp.job('failed'), 'The model is back'),
    ('dead_letter.redriven', 'operator@example.test', 'owner@example.test', pg_temp.job('dead'), 'It is repaired'),
    ('job.opened', 'operator@example.test', 'owner@example.test', pg_temp.job('opened'), 'Its owner asked')$$,
  'each action records who did what, to whom and why'
);
select is(
  (select details from public.operator_acts where act = 'job.cancelled'), '{"ended_tasks": 1}', 'the record contains the result'
);
select is(
  tests.code_of(format('select public.operator_retry_task(%L, ''why'')', pg_temp.job('opened'))), 'TASK_NOT_RETRYABLE',
  'impossible actions are refused'
);
select is(
  tests.code_of(format('select public.operator_cancel_job(%L, '''')', pg_temp.job('opened'))), 'REASON_INVALID',
  'an action needs a reason'
);
select is((select count(*) from public.operator_acts), 4::bigint, 'a refused action is not recorded');
select is(
  tests.code_of(format('select public.cancel_task(%L)', pg_temp.job('opened'))), 'TASK_NOT_FOUND',
  'the owners'' functions remain unavailable to operators'
);
select is_empty('select from public.tasks', 'the owners'' tables remain unavailable to operators');
select results_eq(
  'select owner_email, count(*) from public.operator_list_jobs() group by 1', $$values ('owner@example.test', 4::bigint)$$,
  'an operator lists all jobs with their owners'
);
select tests.act_as_nobody();

select tests.act_as_user('stranger');
select results_eq(
  $$select attempt.statement from unnest(array[
      'select * from public.operator_queue_health', 'select * from public.operator_workers',
      'select * from public.operator_stuck_tasks', 'select * from public.operator_dead_letters',
      'select * from public.operator_servers', 'select * from public.operator_tool_definitions',
      'select * from public.operator_retiring_models', 'select * from public.operator_configuration_problems',
      'select * from public.operator_agent_revisions',
      'select * from public.operator_acts', 'select * from public.operator_list_jobs()',
      'select * from public.operator_job_counts()', 'select * from public.operator_failure_groups()',
      'select public.operator_open_job(null, null)', 'select * from public.operator_tasks(null)',
      'select * from public.operator_steps(null)', 'select * from public.operator_events(null)',
      'select * from public.operator_calls(null)',
      'select public.operator_cancel_job(null, null)', 'select public.operator_retry_task(null, null)',
      'select public.operator_redrive(1, null)', 'select public.approve_tool_definition(null, '''')'
    ]) as attempt (statement)
    where tests.code_of(attempt.statement) <> 'INSUFFICIENT_SCOPE'$$,
  'select null::text where false',
  'a user who is not an operator is always refused'
);
select is(tests.code_of(format('select public.watch_task(%L)', pg_temp.job('opened'))), 'TASK_NOT_FOUND', 'a stranger cannot watch another user''s job');
select tests.act_as_nobody();

select tests.quiet_realtime();
select ok(tests.join_channel('operator', 'supaswarm:master:' || pg_temp.job('opened')), 'an operator joins the channel of a job that is open');
select ok(not tests.join_channel('operator', 'supaswarm:master:' || pg_temp.job('failed')), 'but not that of another job');
select ok(not tests.join_channel('stranger', 'supaswarm:master:' || pg_temp.job('opened')), 'a stranger does not');
select ok(
  not tests.join_channel('operator', 'supaswarm:user:' || tests.user_id('owner')), 'only its user can join a user channel'
);
delete from auth.users where id in (tests.user_id('operator'), tests.user_id('owner'));
select is(
  (select count(*) from private.operator_acts where operator_id = tests.user_id('operator') and owner_id = tests.user_id('owner')),
  4::bigint, 'actions remain after their subjects are deleted'
);
select * from finish();
rollback;
