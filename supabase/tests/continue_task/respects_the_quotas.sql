begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as first, tests.create_task() as second;
grant select on made to authenticated;
create function pg_temp.end_tasks() returns void language sql as $$
  update public.tasks set status = 'failed', error = '{}', finished_at = now()
$$;
delete from private.quota_minutes;
insert into private.quotas (name, user_id, amount) values ('task_creations_per_minute', tests.user_id('owner'), 2);

select pg_temp.end_tasks();
select tests.act_as_user('owner');
select is(public.continue_task((select first from made), '"More"'), 'pending', 'the task is continued');
select is(public.retry_task((select second from made)), 'pending', 'one task is retried');
select tests.act_as_nobody();
select pg_temp.end_tasks();
select tests.act_as_user('owner');
select is(tests.code_of($$select public.continue_task((select first from made), '"More"')$$), 'QUOTA_EXCEEDED',
  'both count as creations of the minute');
select is(tests.code_of($$select public.retry_task((select second from made))$$), 'QUOTA_EXCEEDED', 'the next call of any kind is refused');
select tests.act_as_nobody();

delete from private.quota_minutes;
insert into private.quotas (name, user_id, amount) values ('waiting_tasks', tests.user_id('owner'), 1);
select tests.act_as_user('owner');
select is(public.continue_task((select first from made), '"More"'), 'pending', 'continuing works up to the quota of waiting tasks');
select is(tests.code_of($$select public.retry_task((select second from made))$$), 'QUOTA_EXCEEDED', 'a further task is refused');
select tests.act_as_nobody();

select * from finish();
rollback;
