begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_agent('worker-agent');
select tests.create_user('owner');
update private.quotas set amount = 2 where name = 'running_tasks';
select private.offer_slots('w1', 20, 30);
create function pg_temp.status_of_a_new_task(p_user_id uuid, p_key text default null, p_is_alone boolean default true)
returns text language plpgsql as $$
declare
  v_id constant uuid := (
    select task_id from private.create_task(
      'worker-agent', '{}', p_user_id, p_concurrency_key => p_key, p_is_own_transaction => p_is_alone
    )
  );
begin
  return (select status from public.tasks where id = v_id);
end;
$$;

select is(
  pg_temp.status_of_a_new_task(tests.user_id('owner'), p_is_alone => false), 'pending',
  'a longer transaction takes no lock that blocks claims'
);
delete from public.tasks;
select is(pg_temp.status_of_a_new_task(tests.user_id('owner')), 'running', 'a user''s first task is handed over');
select is(pg_temp.status_of_a_new_task(tests.user_id('owner')), 'running', 'the last task within the quota is handed over too');
select is(pg_temp.status_of_a_new_task(tests.user_id('owner')), 'pending', 'a task above the quota waits');
delete from public.tasks where status = 'pending';
select is(pg_temp.status_of_a_new_task(null), 'running', 'the service has no quota');

insert into private.concurrency_limits values ('shared', 1);
select is(pg_temp.status_of_a_new_task(null, 'shared'), 'running', 'a key allows one task');
select is(pg_temp.status_of_a_new_task(null, 'shared'), 'pending', 'a second task of the key waits');

select * from finish();
rollback;
