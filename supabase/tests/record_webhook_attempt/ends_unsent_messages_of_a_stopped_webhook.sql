begin;
set local search_path = public, extensions;
select plan(5);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into public.webhooks (created_by, url, events) values (tests.user_id('owner'), 'https://hooks.example/', '{task.created}');
select tests.create_task() from generate_series(1, 6);
create temp table claimed on commit drop as select * from private.claim_webhook_messages('w', 10, 60);
select is((select count(*) from claimed)::int, 4, 'at most four messages of one webhook are in flight');
select is((select count(*) from private.claim_webhook_messages('w', 10, 60))::int, 0, 'no more are claimed meanwhile');
select is(tests.code_of($$select private.record_webhook_attempt(id, epoch + 1, 1, 200, null, null) from claimed$$), 'LEASE_LOST',
  'a late worker writes nothing');
update public.webhooks set is_active = false;
select private.record_webhook_attempt(id, epoch, 1, 500, '{"code": "WEBHOOK_NOT_DELIVERED"}', null) from claimed;
select results_eq(
  $$select status, error ->> 'code', count(*)::int from public.webhook_messages group by 1, 2 order by 2$$,
  $$values ('failed', 'WEBHOOK_INACTIVE', 2), ('failed', 'WEBHOOK_NOT_DELIVERED', 4)$$, 'all messages end'
);
delete from net.http_request_queue;
select private.wake_for_due_work();
select is((select count(*) from net.http_request_queue where url like '%supaswarm-webhooks%')::int, 0, 'no worker is woken for them');

select * from finish();
rollback;
