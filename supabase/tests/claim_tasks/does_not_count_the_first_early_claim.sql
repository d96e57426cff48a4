begin;
set local search_path = public, extensions;
select plan(7);

create temp table made on commit drop as select tests.create_task() as id;
create function pg_temp.claim_ahead() returns bigint language sql as $$
  select epoch from private.claim_tasks('w1', 50, 30, p_is_ahead => true);
$$;

select is(pg_temp.claim_ahead(), 1::bigint, 'a task is claimed before a slot is free');
select is((select deliveries from public.tasks), 0, 'its worker might never begin it, so this does not count as a delivery');

select tests.expire_lease((select id from made));
select is(pg_temp.claim_ahead(), 2::bigint, 'the task is claimed again after its worker died');
select is((select deliveries from public.tasks), 1, 'the second claim counts, whether a slot is free or not');

update public.tasks set max_deliveries = 2;
select tests.expire_lease((select id from made));
select is(pg_temp.claim_ahead(), 3::bigint, 'the task is claimed again after the second worker died');
select tests.expire_lease((select id from made));
select is(pg_temp.claim_ahead(), null, 'a task that kills its workers gets only one additional claim');
select private.reconcile();
select is(
  (select array[status, error ->> 'code'] from public.tasks), array['failed', 'TASK_DELIVERIES_EXCEEDED'],
  'then it fails like the others'
);

select * from finish();
rollback;
