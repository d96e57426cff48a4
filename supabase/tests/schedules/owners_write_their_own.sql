begin;
set local search_path = public, extensions;
select plan(11);

select tests.create_user('owner'), tests.create_user('stranger'), tests.create_agent('worker-agent');

select tests.act_as_user('owner');
insert into public.schedules (name, agent, input, cron, time_zone)
values ('Morning report', 'worker-agent', '"Write it"', ' 30 7 * * mon-fri ', 'Europe/Berlin');
select results_eq(
  $$select created_by, cron, is_active, next_run_at = private.next_schedule_times('30 7 * * mon-fri', 'Europe/Berlin', 1, null) from public.schedules$$,
  $$values (tests.user_id('owner'), '30 7 * * mon-fri', true, true)$$, 'a row belongs to its owner and has its next run'
);
select is(tests.code_of($$insert into public.schedules (agent, input, cron) values ('worker-agent', '""', '* * * * *')$$),
  'TASK_INPUT_INVALID', 'an input that no job may have is refused');
select is(tests.code_of($$insert into public.schedules (agent, input, cron) values ('nobody', '"x"', '* * * * *')$$),
  'AGENT_NOT_FOUND', 'an unknown agent is refused');
select is(tests.code_of($$insert into public.schedules (agent, input, cron, is_active) values ('worker-agent', '"x"', 'never', false)$$),
  'SCHEDULE_CRON_INVALID', 'an invalid expression is refused, also for an inactive schedule');
select throws_ok(
  format($$insert into public.schedules (agent, input, cron, created_by) values ('worker-agent', '"x"', '@daily', %L)$$, tests.user_id('stranger')),
  '42501', null, 'nobody can write another user''s schedule');
select throws_ok($$update public.schedules set next_run_at = now()$$, '42501', null, 'the owner cannot write the next run');
update public.schedules set is_active = false;
select is((select next_run_at from public.schedules), null, 'an inactive schedule has no next run');
update public.schedules set is_active = true, cron = '@hourly';
select is((select next_run_at from public.schedules), date_trunc('hour', now()) + interval '1 hour', 'an activated schedule has one again');

select tests.act_as_user('stranger');
update public.schedules set cron = '@yearly';
delete from public.schedules;
select is((select count(*) from public.schedules)::int, 0, 'a stranger sees no schedules');
select tests.act_as_user('owner');
select is((select cron from public.schedules), '@hourly', 'a stranger changes none');
delete from public.schedules;
select is((select count(*) from public.schedules)::int, 0, 'its owner can delete it');

select * from finish();
rollback;
