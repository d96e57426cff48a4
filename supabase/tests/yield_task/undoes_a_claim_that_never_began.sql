begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
update public.tasks set max_deliveries = 1;

select private.claim_tasks('w1', 50, 30, p_is_ahead => true);
select ok(private.yield_task((select id from made), 1, p_has_begun => false), 'the task waited for a slot and is returned');
select is(
  (select row(status, deliveries, ahead_epoch)::text from public.tasks), '(pending,0,)',
  'it is as if it had not been claimed, so it may be claimed ahead again'
);

select tests.claim((select id from made));
select private.yield_task((select id from made), 2, p_has_begun => false);
select is(
  (select row(status, deliveries)::text from public.tasks), '(pending,0)', 'a counted claim is removed from the count'
);

select private.claim_tasks('w1', 50, 30, p_is_ahead => true);
select tests.expire_lease((select id from made));
select private.claim_tasks('w1', 50, 30, p_is_ahead => true);
select private.yield_task((select id from made), 4, p_has_begun => false);
select is((select ahead_epoch from public.tasks), 3::bigint, 'the allowance for an earlier claim stays used');
select is((select status from public.tasks), 'pending', 'waiting for a slot does not fail it');

select * from finish();
rollback;
