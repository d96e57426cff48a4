begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_agent('worker-agent');
create function pg_temp.offer(p_count int) returns void language sql as $$
  delete from private.idle_workers;
  select private.offer_slots('w1', p_count, 30);
$$;
create function pg_temp.status_of_a_new_task(p_run_after timestamptz default null) returns text language plpgsql as $$
declare
  v_id constant uuid := (select task_id from private.create_task('worker-agent', '{}', p_run_after => p_run_after));
begin
  return (select status from public.tasks where id = v_id);
end;
$$;

select is(pg_temp.status_of_a_new_task(), 'pending', 'no worker listens');
select pg_temp.offer(1);
select is(pg_temp.status_of_a_new_task(), 'pending', 'an earlier task waits');

select count(*) from private.claim_tasks('w2', 10, 30);
select is(
  pg_temp.status_of_a_new_task(now() + interval '10 seconds'), 'pending', 'the task starts later'
);
delete from public.tasks where status = 'pending';

update public.tasks set lease_expires_at = now() where id = (select id from public.tasks limit 1);
select is(pg_temp.status_of_a_new_task(), 'pending', 'the task of a dead worker waits');
delete from public.tasks;

select pg_temp.offer(1);
update private.idle_workers set seen_at = now() - interval '4 seconds';
select is(pg_temp.status_of_a_new_task(), 'pending', 'the worker was not seen recently');
delete from public.tasks;

select pg_temp.offer(1);
select is(pg_temp.status_of_a_new_task(), 'running', 'with none of this it is handed over');
select is(pg_temp.status_of_a_new_task(), 'pending', 'no slot is left');

select * from finish();
rollback;
