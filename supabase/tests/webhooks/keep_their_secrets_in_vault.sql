begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_user('stranger');
select tests.act_as_user('owner');
insert into public.webhooks (url, events) values ('https://hooks.example/', '{task.created}');
create temp table rotated on commit drop as select public.rotate_webhook_secret(id) as secret, id from public.webhooks;
select matches((select secret from rotated), '^whsec_[A-Za-z0-9+/]{43}=$', 'a new secret is 32 bytes in the standard''s format');
select is(tests.code_of($$select public.rotate_webhook_secret(id, 'whsec_short') from rotated$$), 'SECRET_INVALID', 'a short secret is refused');
select lives_ok($$select public.rotate_webhook_secret(id, 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') from rotated$$, 'a secret chosen by the owner is accepted');
grant select on rotated to authenticated;
select tests.act_as_user('stranger');
select is(tests.code_of($$select public.rotate_webhook_secret(id) from rotated$$), 'WEBHOOK_NOT_FOUND', 'another user''s webhook is not found');

select tests.act_as_nobody();
select tests.create_agent('worker-agent'), tests.create_task();
select is((select secrets from private.claim_webhook_messages('w', 5, 60)),
  (select jsonb_build_array('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', secret) from rotated), 'messages are signed with the previous secret as well');
update public.webhooks set previous_secret_until = now() - interval '1 second';
update public.webhook_messages set lease_expires_at = now() - interval '1 second';
select is((select secrets from private.claim_webhook_messages('w', 5, 60)),
  '["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"]'::jsonb, 'the previous secret is valid for a day');
select is((select count(*) from public.webhook_messages as m, rotated where m::text like '%whsec_%')::int, 0, 'no message contains a secret');
delete from public.webhooks;
select is((select count(*) from vault.decrypted_secrets where name like 'supaswarm/webhook/%')::int, 0, 'secrets are deleted from Vault with their webhook');

select * from finish();
rollback;
