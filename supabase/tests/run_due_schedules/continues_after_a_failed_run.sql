begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('owner'), tests.create_agent('worker-agent'), tests.create_agent('gone');
insert into public.schedules (created_by, name, agent, input, cron)
values (tests.user_id('owner'), 'first', 'gone', '"x"', '* * * * *'), (tests.user_id('owner'), 'second', 'worker-agent', '"x"', '* * * * *');
update public.agents set is_active = false where slug = 'gone';
update public.schedules set next_run_at = now() - case name when 'first' then interval '2 minutes' else '1 minute' end;

select is(private.run_due_schedules(), 2, 'a run that cannot be created does not block the others');
select is((select last_error ->> 'code' from public.schedules where name = 'first'), 'AGENT_INACTIVE', 'its owner can read the reason');
select ok((select next_run_at > now() from public.schedules where name = 'first'), 'it is retried at its next time');
select is((select count(*) from public.tasks)::int, 1, 'the other schedule ran');
select lives_ok($$update public.schedules set is_active = false where name = 'first'$$, 'a schedule that cannot run can be deactivated');

update public.schedules set next_run_at = now() - interval '1 minute' where name = 'second';
set local session_replication_role = replica;
update public.schedules set time_zone = 'Nowhere/Land' where name = 'second';
set local session_replication_role = origin;
select private.run_due_schedules();
select results_eq($$select is_active, last_error ->> 'code' from public.schedules where name = 'second'$$,
  $$values (false, 'SCHEDULE_CRON_INVALID')$$, 'a time zone that no longer exists deactivates its schedule');

select * from finish();
rollback;
