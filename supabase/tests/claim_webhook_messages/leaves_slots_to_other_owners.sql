begin;
set local search_path = public, extensions;
select plan(6);

select tests.create_user('busy'), tests.create_user('bystander'), tests.create_agent('worker-agent');
insert into public.webhooks (created_by, url, events)
select tests.user_id('busy'), format('https://hooks.example/%s', n), '{task.created}' from generate_series(1, 20) as n;
insert into public.webhooks (created_by, url, events)
values (tests.user_id('bystander'), 'https://other.example/', '{task.created}');
create function pg_temp.send(p_user text, p_count int) returns void language plpgsql as $$
begin
  insert into public.webhook_messages (webhook_id, task_id, type, payload)
  select webhook.id, (select id from public.tasks limit 1), 'task.created', '{}'
  from public.webhooks as webhook, generate_series(1, p_count)
  where webhook.created_by = tests.user_id(p_user);
end;
$$;
create function pg_temp.claimed_of(p_user text) returns bigint language sql as $$
  select count(*)
  from public.webhook_messages as message
  join public.webhooks as webhook on webhook.id = message.webhook_id
  where webhook.created_by = tests.user_id(p_user) and message.status = 'running'
$$;
select tests.create_task();
delete from public.webhook_messages;

select pg_temp.send('busy', 10);
select count(*) from private.claim_webhook_messages('w1', 16, 60);
select is(pg_temp.claimed_of('busy'), 8::bigint, 'an owner with 20 webhooks gets half of the slots of a worker');
select is((select count(*) from private.claim_webhook_messages('w2', 16, 60)), 0::bigint, 'also among several workers');

select pg_temp.send('bystander', 1);
select is((select count(*) from private.claim_webhook_messages('w1', 1, 60)), 1::bigint, 'another owner gets the next slot');
select is(pg_temp.claimed_of('bystander'), 1::bigint, 'although its message is the newest');

update public.webhook_messages set status = 'delivered', finished_at = clock_timestamp(),
  worker_id = null, lease_expires_at = null where status = 'running';
select pg_temp.send('bystander', 3);
select count(*) from private.claim_webhook_messages('w1', 4, 60);
select is(pg_temp.claimed_of('bystander'), 2::bigint, 'free slots are shared equally');

update public.webhook_messages set status = 'pending', run_after = clock_timestamp() + interval '1 hour',
  worker_id = null, lease_expires_at = null where status = 'running';
select count(*) from private.claim_webhook_messages('w1', 16, 60);
select is(pg_temp.claimed_of('busy'), 8::bigint, 'messages that wait for another attempt take no slot');

select * from finish();
rollback;
