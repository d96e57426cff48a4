begin;
set local search_path = public, extensions;
select plan(12);

select tests.create_user('owner'), tests.create_agent('worker-agent');
insert into public.webhooks (created_by, url, events) values (tests.user_id('owner'), 'https://hooks.example/', '{task.created}');
select tests.create_task();
create temp table attempts (status text, waited interval) on commit drop;
create function pg_temp.fail(p_status int default 500, p_retry_after numeric default null) returns text language plpgsql as $$
declare
  v_claim record;
  v_status text;
begin
  update public.webhook_messages set run_after = now() - interval '1 second' where status = 'pending';
  select * into v_claim from private.claim_webhook_messages('w', 1, 60);
  v_status := private.record_webhook_attempt(v_claim.id, v_claim.epoch, 12, p_status,
    '{"code": "WEBHOOK_NOT_DELIVERED", "message": "no", "hint": "h"}', p_retry_after);
  insert into attempts select v_status, run_after - clock_timestamp() from public.webhook_messages where id = v_claim.id;
  return v_status;
end $$;

select is(pg_temp.fail(), 'pending', 'a failed attempt is retried');
select ok((select waited between '4 seconds' and '6 seconds' from attempts), 'the first retry is soon');
select is(pg_temp.fail(429, 7200), 'pending', 'a rate limited attempt is retried too');
select ok((select max(waited) > '7190 seconds' from attempts), 'it waits as long as the receiver requests');
select pg_temp.fail() from generate_series(1, 8);
select is((select status from public.webhook_messages), 'pending', 'the tenth attempt is not the last');
select is(pg_temp.fail(), 'failed', 'the eleventh attempt is the last');
select ok((select sum(private.webhook_pause(n, null)) between '21 hours' and '27 hours' from generate_series(1, 10) as n), 'it comes about a day later');
select results_eq(
  $$select attempts, jsonb_array_length(log), log -> 0 ->> 'status', log -> 0 #>> '{error,code}', error ->> 'code' from public.webhook_messages$$,
  $$values (11, 11, '500', 'WEBHOOK_NOT_DELIVERED', 'WEBHOOK_NOT_DELIVERED')$$, 'the log has every attempt'
);

select tests.act_as_user('owner');
select is(public.resend_webhook_message((select id from public.webhook_messages)), 'pending', 'its owner can resend a dead letter');
select tests.act_as_nobody();
select is(pg_temp.fail(410), 'failed', 'status 410 is final');
select is((select is_active from public.webhooks), false, 'status 410 stops the webhook');
select tests.act_as_user('owner');
select is(tests.code_of($$select public.resend_webhook_message(id) from public.webhook_messages$$), 'WEBHOOK_INACTIVE', 'an inactive webhook sends nothing until it is activated');

select * from finish();
rollback;
