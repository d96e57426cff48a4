begin;
set local search_path = public, extensions;
select plan(10);
select tests.create_user(name) from unnest(array['holder', 'looker', 'owner']) as name;
select public.grant_scopes(tests.user_id('holder'), '{swarm:operate, swarm:configure}');
select public.grant_scopes(tests.user_id('looker'), '{swarm:operate}');
insert into public.webhooks (created_by, name, url, events, is_active) values
  (null, 'pager', 'https://pager.test', '{task.failed}', true), (null, 'silent', 'https://pager.test', '{task.failed}', false),
  (tests.user_id('owner'), 'own', 'https://own.test', '{task.failed}', true);
insert into public.webhook_messages (webhook_id, type, payload)
select id, 'task.failed', '{}' from public.webhooks where name = 'own';
create temp table own_message on commit drop as select id from public.webhook_messages;
grant select on own_message to authenticated;

select tests.act_as_user('looker');
select is(tests.code_of($$select public.operator_test_webhook('pager')$$), 'INSUFFICIENT_SCOPE', 'an operator without swarm:configure sends nothing');
select is_empty('select from public.operator_webhook_messages', 'the messages of users'' webhooks are not listed');
select tests.act_as_nobody();
select tests.act_as_user('holder');
select isnt(public.operator_test_webhook('pager'), null, 'a test message is queued');
select results_eq(
  'select webhook, type, status from public.operator_webhook_messages', $$values ('pager', 'webhook.test', 'pending')$$, 'and listed'
);
select is(tests.code_of($$select public.operator_test_webhook('silent')$$), 'WEBHOOK_INACTIVE', 'an inactive webhook gets none');
select is(tests.code_of($$select public.operator_test_webhook('own')$$), 'WEBHOOK_NOT_FOUND', 'nor does that of a user');
select is(
  tests.code_of(format('select public.operator_resend_webhook_message(%L)', (select id from own_message))), 'WEBHOOK_NOT_FOUND',
  'the message of a user is not sent again'
);
select tests.act_as_nobody();
update public.webhook_messages set status = 'failed', error = '{}', finished_at = now() where type = 'webhook.test';
select tests.act_as_user('holder');
select is((select public.operator_resend_webhook_message(id) from public.operator_webhook_messages), 'pending', 'a failed message is sent again');
select results_eq(
  'select act, details ->> ''slug'' from public.operator_acts order by id', $$values ('webhook.tested', 'pager'), ('webhook_message.resent', 'pager')$$,
  'both are recorded'
);
select tests.act_as_nobody();
select is((select count(*) from public.webhook_messages where status = 'pending'), 2::bigint, 'and wait for a worker');

select * from finish();
rollback;
