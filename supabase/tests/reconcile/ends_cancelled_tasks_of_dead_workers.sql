begin;
set local search_path = public, extensions;
select plan(1);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select public.cancel_task((select id from made));
select tests.expire_lease((select id from made));

select private.reconcile();

select is((select status from public.tasks), 'cancelled', 'the lease ran out, so it ends');

select * from finish();
rollback;
