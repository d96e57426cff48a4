begin;
set local search_path = public, extensions;
select plan(11);
select public.grant_scopes(tests.create_user('olga'), '{swarm:operate}');
select tests.create_agent('triager');
insert into public.tools (slug, name, type, config, credential_secret_name, credential_type)
select slug, slug, 'http_api', '{"method": "GET", "url": "https://crm.example.com", "parameters": {"type": "object"}}', 'ABSENT', 'api_key'
from unnest(array['crm', 'erp']) as slug;
insert into public.agent_tools (agent_id, tool_id)
select agent.id, tool.id from public.agents as agent, public.tools as tool where agent.slug = 'triager' and tool.slug = 'crm';
create function pg_temp.acknowledge(p_kind text, p_name text, p_reason text) returns int language sql as $$
  select public.operator_acknowledge_problems(jsonb_agg(to_jsonb(listed)), p_reason)
  from public.operator_configuration_problems as listed where kind = p_kind and name = p_name;
$$;
create function pg_temp.known() returns text language sql as $$
  select string_agg(name || '.' || field || ': ' || reason, ', ' order by name, field)
  from public.operator_configuration_problems where acknowledged_at is not null and acknowledged_by = 'olga@example.test';
$$;

select tests.act_as_user('olga');
select is(pg_temp.acknowledge('tool', 'crm', ' It comes on Monday '), 1, 'a problem is acknowledged with a reason');
select is(pg_temp.known(), 'crm.credential_secret_name: It comes on Monday', 'the others with the same cause are not');
select is(pg_temp.acknowledge('agent', 'triager', 'Only for Ada'), 1, 'another is too');
select tests.act_as_nobody();
select tests.create_user('eve');
select tests.act_as_user('olga');
select is(
  pg_temp.known(), 'crm.credential_secret_name: It comes on Monday, triager.tools.crm: Only for Ada', 'a number that changes is no new problem'
);
select results_eq(
  'select act, operator_email, reason, details -> ''problems'' -> 0 ->> ''name'' from public.operator_acts order by id',
  $$values ('problems.acknowledged', 'olga@example.test', 'It comes on Monday', 'crm'),
    ('problems.acknowledged', 'olga@example.test', 'Only for Ada', 'triager')$$,
  'it is recorded'
);
select is(pg_temp.acknowledge('agent', 'triager', null), 1, 'without a reason it is no longer acknowledged');
select is(pg_temp.known(), 'crm.credential_secret_name: It comes on Monday', 'and is listed as before');
select is(
  public.operator_acknowledge_problems('[{"kind": "tool", "name": "crm", "field": "nothing", "problem": "x"}]', 'why'), 0,
  'what is no problem cannot be acknowledged in advance'
);
select is(tests.code_of('select public.operator_acknowledge_problems(''{}'', ''why'')'), 'QUERY_INVALID', 'a list is needed');

select tests.act_as_nobody();
select vault.create_secret('x', 'ABSENT', 'for the test');
select tests.act_as_user('olga');
select pg_temp.acknowledge('agent', 'triager', 'Only for Ada');
select tests.act_as_nobody();
delete from vault.secrets where name = 'ABSENT';
select tests.act_as_user('olga');
select is(pg_temp.known(), 'triager.tools.crm: Only for Ada', 'a problem that ended and returns is new');
select tests.act_as_user('eve');
select is(
  tests.code_of('select public.operator_acknowledge_problems(''[{}]'', ''why'')'), 'INSUFFICIENT_SCOPE', 'only operators may'
);
select tests.act_as_nobody();
select * from finish();
rollback;
