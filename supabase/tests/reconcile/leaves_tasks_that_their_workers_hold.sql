begin;
set local search_path = public, extensions;
select plan(9);

create temp table made on commit drop as select tests.create_task('{"max_wall_seconds": 1}') as id;
select tests.claim((select id from made));
update public.tasks set started_at = clock_timestamp() - interval '1 minute';
select is(private.return_expired_task((select id from made)), false, 'the task of a living worker is not returned');
update public.tasks set deliveries = max_deliveries;
select is(private.end_expired_task((select id from made)), false, 'the task of a living worker is not ended');
select is(private.end_overdue_job((select id from made)), false, 'an overdue job that runs is left to its worker');

update public.tasks set lease_expires_at = clock_timestamp() - interval '1 second';
select is(private.return_expired_task((select id from made)), false, 'a task that kills its workers is not returned');
update public.tasks set deliveries = 1, cancel_requested_at = clock_timestamp();
select is(private.return_expired_task((select id from made)), false, 'a cancelled task is not returned');
update public.tasks set cancel_requested_at = null;
select is(private.end_expired_task((select id from made)), false, 'a task that may be claimed again is not ended');
select is(private.return_expired_tasks(), 1, 'the task of a dead worker is returned');
select is((select status from public.tasks), 'pending', 'it waits again');
select is(private.return_expired_tasks(), 0, 'a task that waits is not returned');

select * from finish();
rollback;
