begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into public.schedules (created_by, name, agent, input, cron, metadata, budget, priority)
values (tests.user_id('owner'), 'Every five', 'worker-agent', '{"question": "?"}', '*/5 * * * *', '{"team": "a"}', '{"max_steps": 5}', 'low');

select is(private.run_due_schedules(), 0, 'nothing runs before its time');
-- Simulates an hour of downtime.
update public.schedules set next_run_at = date_trunc('hour', now()) - interval '1 hour';
select is(private.run_due_schedules(), 1, 'an overdue schedule runs');
select is(private.run_due_schedules(), 0, 'it runs once, however many runs were missed');
select results_eq(
  $$select created_by, agent_slug, input, budget ->> 'max_steps', priority, metadata from public.tasks$$,
  $$select tests.user_id('owner'), 'worker-agent', '{"question": "?"}'::jsonb, '5', 'low', jsonb_build_object('team', 'a',
      'schedule', jsonb_build_object('id', id, 'name', 'Every five', 'scheduled_at', date_trunc('hour', now()) - interval '1 hour'))
    from public.schedules$$,
  'it creates an ordinary job of its owner, with the schedule in the metadata'
);
select results_eq(
  $$select run_count, last_error, next_run_at > clock_timestamp(), next_run_at <= clock_timestamp() + interval '5 minutes' from public.schedules$$,
  $$values (1::bigint, null::jsonb, true, true)$$, 'the next run is the next time from now'
);
select is((select count(*) from pgmq.q_agent_tasks)::int, 1, 'the job is queued');
delete from public.schedules;
select is((select count(*) from public.tasks)::int, 1, 'the job remains after its schedule is deleted');

select * from finish();
rollback;
