begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_agent('worker-agent');
select tests.act_as_user('owner');
insert into public.webhooks (name, url, events) values ('own', 'https://hooks.example/own', '{task.created}');
create function pg_temp.claim(p_claim text, p_value text) returns void language sql as $$
  select set_config('request.jwt.claims',
    (current_setting('request.jwt.claims')::jsonb || jsonb_build_object(p_claim, p_value))::text, true)
$$;
select pg_temp.claim('supaswarm_actor', 'agent');
select is(tests.code_of($$insert into public.webhooks (url, events) values ('https://evil.example', '{task.completed}')$$),
  'AGENT_NOT_ALLOWED', 'an agent cannot add a webhook');
select is(tests.code_of($$update public.webhooks set url = 'https://evil.example'$$), 'AGENT_NOT_ALLOWED', 'an agent cannot redirect a webhook');
select is(tests.code_of($$update public.webhooks set is_active = false$$), 'AGENT_NOT_ALLOWED', 'an agent cannot stop a webhook');
select is(tests.code_of($$delete from public.webhooks$$), 'AGENT_NOT_ALLOWED', 'an agent cannot delete a webhook');

select tests.act_as_nobody();
insert into public.mcp_grants (user_id, client_id, scopes) values (tests.user_id('owner'), 'runner', '{swarm:run}');
select tests.act_as_user('owner'), pg_temp.claim('client_id', 'runner');
insert into public.webhooks (name, url, events) values ('client''s', 'https://hooks.example/client', '{task.created}');
select is(tests.code_of($$select public.rotate_webhook_secret(id) from public.webhooks where name = 'own'$$),
  'INSUFFICIENT_SCOPE', 'a client without credentials:write cannot read a secret');
select tests.act_as_nobody();
select tests.create_task();
select is((select count(*) from public.webhook_messages)::int, 2, 'a client''s webhook receives the same messages as its owner''s');
update public.mcp_grants set scopes = '{quoth:read}' where client_id = 'runner';
select tests.create_task();
select is((select count(*) from public.webhook_messages)::int, 3, 'the client''s webhook stops when the client loses swarm:run');

update private.quotas set amount = 2 where name = 'active_webhooks';
select tests.act_as_user('owner');
select is(tests.code_of($$insert into public.webhooks (url, events) values ('https://x.example', '{task.created}')$$),
  'QUOTA_EXCEEDED', 'the number of active webhooks is limited');

select * from finish();
rollback;
