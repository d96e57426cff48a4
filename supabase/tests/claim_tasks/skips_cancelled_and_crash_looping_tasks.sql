begin;
set local search_path = public, extensions;
select plan(2);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select tests.expire_lease((select id from made));

update public.tasks set deliveries = max_deliveries;
select is(tests.claim((select id from made)), null, 'a task is not claimed after its last delivery');

update public.tasks set deliveries = 1, cancel_requested_at = now();
select is(tests.claim((select id from made)), null, 'a task is not claimed after a cancellation');

select * from finish();
rollback;
