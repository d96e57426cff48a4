begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into public.webhooks (created_by, url, events) values (tests.user_id('owner'), 'https://hooks.example/', '{task.created}');
select tests.create_task();
create temp table claimed on commit drop as select * from private.claim_webhook_messages('w', 1, 60);
create function pg_temp.deliver() returns text language sql as
  $$select private.record_webhook_attempt(id, epoch, 12, 200, null, null) from claimed$$;

select is(pg_temp.deliver(), 'delivered', 'an attempt without an error delivers the message');
select results_eq(
  $$select status, attempts, finished_at is null, run_after from public.webhook_messages$$,
  $$values ('delivered', 0, false, null::timestamptz)$$, 'it has ended and is not sent again'
);
select is(tests.code_of('select pg_temp.deliver()'), 'LEASE_LOST', 'it ends once');

select * from finish();
rollback;
