begin;
set local search_path = public, extensions;
select plan(18);

select tests.create_user('owner'), tests.create_user('other'), tests.create_agent('payer');
insert into public.tools (name, slug, type, config) values ('bank', 'bank', 'mcp_server', '{"mcp_url": "https://tools.example"}');
create function pg_temp.set(p_ask text, p_conditions jsonb) returns text language sql as $$
  select tests.code_of(format('select public.set_approval(%L, %L, %L, %L)', 'payer', 'bank', p_ask, p_conditions));
$$;

select tests.act_as_user('owner');
select is(tests.code_of($$select public.set_approval('nobody', 'bank', 'always')$$), 'AGENT_NOT_FOUND', 'the agent must exist');
select is(tests.code_of($$select public.set_approval('payer', 'nothing', 'always')$$), 'TOOL_NOT_FOUND', 'the tool must exist');
select is(pg_temp.set('sometimes', null), 'APPROVAL_RULE_INVALID', 'ask is one of three');
select is(pg_temp.set('when', null), 'APPROVAL_RULE_INVALID', 'when needs conditions');
select is(pg_temp.set('always', '[{"data_flow": "reads_private"}]'), 'APPROVAL_RULE_INVALID', 'always has none');
select is(pg_temp.set('when', '[]'), 'APPROVAL_RULE_INVALID', 'an empty list is none');
select is(pg_temp.set('when', '[{"data_flow": "reads"}]'), 'APPROVAL_RULE_INVALID', 'a data flow is one of three');
select is(pg_temp.set('when', '[{"argument": "amount", "operator": "above", "value": 1}]'), 'APPROVAL_RULE_INVALID', 'an argument is a JSON Pointer');
select is(pg_temp.set('when', '[{"argument": "/amount", "operator": "above", "value": "1"}]'), 'APPROVAL_RULE_INVALID', 'a limit is a number');
select is(pg_temp.set('when', '[{"argument": "/amount", "operator": "one_of", "value": 1}]'), 'APPROVAL_RULE_INVALID', 'a choice is a list');
select is(pg_temp.set('when', '[{"argument": "/amount", "operator": "matches", "value": "^1"}]'), 'APPROVAL_RULE_INVALID', 'an unknown operator is refused');
select is(pg_temp.set('when', '[{"argument": "/amount", "operator": "above", "value": 1, "or": 2}]'), 'APPROVAL_RULE_INVALID', 'so is an unknown member');
select public.set_approval('payer', 'bank', 'when', '[{"argument": "/amount", "operator": "above", "value": 100}, {"data_flow": "reads_outside"}]');
select is((select ask from public.agent_approvals), 'when', 'a valid rule is stored');
select public.set_approval('payer', 'bank', 'always');
select is((select string_agg(ask, ',') from public.agent_approvals), 'always', 'a second one replaces it');
select tests.act_as_user('other');
select is((select count(*) from public.agent_approvals)::int, 0, 'another user does not see it');
select public.set_approval('payer', 'bank', null);
select tests.act_as_user('owner');
select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || '{"supaswarm_actor": "agent"}')::text, true);
select is(pg_temp.set('never', null), 'AGENT_NOT_ALLOWED', 'an agent does not change its own rules');
select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb - 'supaswarm_actor' || '{"client_id": "editor"}')::text, true);
select tests.act_as_nobody();
insert into public.mcp_grants (user_id, client_id, scopes) values (tests.user_id('owner'), 'editor', '{swarm:run}');
select tests.act_as_user('owner');
select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || '{"client_id": "editor"}')::text, true);
select is(pg_temp.set('never', null), 'FORBIDDEN', 'nor does a client');
select tests.act_as_user('owner');
select is((select ask from public.agent_approvals), 'always', 'nobody else has changed it');
select tests.act_as_nobody();

select * from finish();
rollback;
