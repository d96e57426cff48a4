begin;
set local search_path = public, extensions;
select plan(2);

select tests.create_user('busy'), tests.create_user('bystander'), tests.create_agent('worker-agent');
insert into public.schedules (created_by, agent, input, cron)
select tests.user_id('busy'), 'worker-agent', '"x"', '@daily' from generate_series(1, 20);
insert into public.schedules (created_by, agent, input, cron)
values (tests.user_id('bystander'), 'worker-agent', '"x"', '@daily');
update public.schedules set next_run_at = clock_timestamp() - case
  when created_by = tests.user_id('busy') then interval '1 hour' else interval '1 second' end;

select is(private.run_due_schedules(p_limit => 2), 2, 'a batch runs two schedules');
select is(
  (select count(distinct created_by) from public.tasks), 2::bigint,
  'one of each owner, although those of one are more overdue'
);

select * from finish();
rollback;
