begin;
set local search_path = public, extensions;
select plan(24);
select tests.create_user(name) from unnest(array['holder', 'looker', 'other']) as name;
select public.grant_scopes(tests.user_id(name), '{swarm:operate, swarm:configure}') from unnest(array['holder', 'other']) as name;
select public.grant_scopes(tests.user_id('looker'), '{swarm:operate}');
insert into public.tools (name, slug, type, config, source) values
  ('Gone', 'gone', 'mcp_server', '{"mcp_url": "https://gone.test/mcp"}', 'yaml'),
  ('Notes', 'notes', 'mcp_server', '{"mcp_url": "https://notes.test/mcp"}', 'yaml'),
  ('Mine', 'mine', 'mcp_server', '{"mcp_url": "https://mine.test/mcp"}', 'manual');
select vault.create_secret('canary', 'supaswarm/mcp/gone/token'), vault.create_secret('canary', 'supaswarm/user/x');
create function pg_temp.changes(p_plan jsonb) returns jsonb language sql as $$
  select jsonb_object_agg(one ->> 'slug', one ->> 'change') from jsonb_array_elements(p_plan -> 'servers') as one
$$;
create table pg_temp.wanted as select '{
  "notes": {"display_name": "Notes", "config": {"mcp_url": "https://notes.test/v2"}},
  "files": {"display_name": "Files", "config": {"mcp_url": "https://files.test/mcp"},
    "credential": {"secret": "supaswarm/mcp/files/token", "type": "bearer_token"}},
  "off": null
}'::jsonb as servers;
grant select on pg_temp.wanted to authenticated;

select tests.act_as_user('looker');
select is(tests.code_of('select public.operator_sync_servers(servers) from pg_temp.wanted'), 'INSUFFICIENT_SCOPE',
  'an operator without swarm:configure changes nothing');

select tests.act_as_user('holder');
create table pg_temp.plans as
  select public.operator_sync_servers(servers, p_is_file => true, p_is_dry_run => true) as plan from pg_temp.wanted;
select is(pg_temp.changes(plan), '{"notes": "changed", "files": "added", "off": "disabled", "gone": "removed"}', 'a plan says what changes')
from pg_temp.plans;
select is(plan -> 'secrets', '[{"name": "supaswarm/mcp/files/token", "state": "missing"}, {"name": "supaswarm/mcp/gone/token", "state": "removed"}]',
  'and which secrets it needs and deletes') from pg_temp.plans;
select is(plan #> '{servers,2,fields}', '["config"]', 'and in which fields') from pg_temp.plans;
select is(array(select slug from public.operator_settings where kind = 'server' order by slug), '{gone,mine,notes}', 'and writes nothing');
select is_empty($$select 1 from public.operator_acts where act <> 'scopes.changed'$$, 'and is not an act');

select is(tests.code_of('select public.operator_sync_servers(servers, true) from pg_temp.wanted'), 'DEFINITION_CHANGED',
  'a change without a plan is refused');
select is(tests.code_of($$select public.operator_sync_servers(servers, true, p_state => plan ->> 'state') from pg_temp.wanted, pg_temp.plans$$),
  'SECRET_NOT_FOUND', 'and one whose secret is missing');
select is(tests.code_of($$select public.operator_sync_servers(servers, true,
    p_secrets => '{"supaswarm/mcp/files/token": "key", "OTHER": "x"}', p_state => plan ->> 'state') from pg_temp.wanted, pg_temp.plans$$),
  'SECRET_INVALID', 'and one with a secret that no server names');
select is(tests.code_of($$select public.operator_sync_servers(
    '{"files": {"config": {"mcp_url": "https://files.test"}, "credential": {"secret": "supaswarm/user/x", "type": "api_key"}}}',
    true, p_is_dry_run => true)$$), 'SECRET_INVALID', 'a server names no secret of a user');
select is(tests.code_of($$select public.operator_sync_servers(
    '{"files": {"config": {"mcp_url": "https://files.test"}, "credential": {"secret": "supaswarm/mcp/gone/token", "type": "api_key"}}}',
    true, p_is_dry_run => true)$$), 'SECRET_INVALID', 'nor that of another entry');
select is(tests.code_of($$select public.operator_sync_servers('{"mine": {"config": {"mcp_url": "https://x.test"}}}', true, p_is_dry_run => true)$$),
  'DEFINITION_INVALID', 'a file does not change a server of the settings');
select is(tests.code_of($$select public.operator_sync_servers('{"notes": {"config": {"mcp_url": "https://x.test"}}}', p_is_dry_run => true)$$),
  'DEFINITION_INVALID', 'nor do the settings change one of the file');
select is(tests.code_of($$select public.operator_sync_servers('{"x": {"config": {"url": 1}}}', true, p_is_dry_run => true)$$),
  'DEFINITION_INVALID', 'each document is checked');

select lives_ok($$select public.operator_sync_servers(servers, true,
    p_secrets => '{"supaswarm/mcp/files/token": "a-key"}', p_state => plan ->> 'state') from pg_temp.wanted, pg_temp.plans$$, 'a plan is applied');
select results_eq(
  $$select slug, facts -> 'is_from_file' from public.operator_settings where kind = 'server' order by slug$$,
  $$values ('files', 'true'::jsonb), ('mine', 'false'), ('notes', 'true')$$, 'servers of the settings stay'
);
select results_eq(
  $$select act, coalesce(details ->> 'slug', details ->> 'name') from public.operator_acts
    where act in ('definition.saved', 'definition.removed', 'secret.set', 'secret.removed') order by 1, 2$$,
  $$values ('definition.removed', 'gone'), ('definition.saved', 'files'), ('definition.saved', 'notes'),
    ('secret.removed', 'supaswarm/mcp/gone/token'), ('secret.set', 'supaswarm/mcp/files/token')$$, 'each change is recorded'
);
select is(pg_temp.changes(public.operator_sync_servers(servers, true, p_is_dry_run => true)),
  '{"notes": "unchanged", "files": "unchanged", "off": "disabled"}', 'the next plan is empty') from pg_temp.wanted;
select is(pg_temp.changes(public.operator_sync_servers(
    '{"mine": {"display_name": "Mine", "config": {"mcp_url": "https://mine.test/v2"}}, "more": {"config": {"mcp_url": "https://more.test"}}}',
    p_is_dry_run => true)), '{"mine": "changed", "more": "added"}', 'without a file, nothing is removed');

select tests.act_as_nobody();
select is(private.secret_value('supaswarm/mcp/files/token'), 'a-key', 'the secret is in Vault');

-- A secret that is given with the server that sends it.
create function pg_temp.key(p_slug text) returns text language sql as $$
  select private.resolve_tool_secret(id, null) from public.tools where slug = p_slug
$$;
create table pg_temp.team as select '{"team": {"config": {"mcp_url": "https://team.test"},
  "credential": {"secret": "TEAM_KEY", "type": "api_key"}}}'::jsonb as servers;
grant select on pg_temp.team to authenticated;
select is(pg_temp.key('files'), 'a-key', 'and the server has it');
select tests.act_as_user('holder');
select lives_ok($$select public.operator_sync_servers(servers, p_secrets => '{"TEAM_KEY": "of the holder"}',
    p_state => public.operator_sync_servers(servers, p_is_dry_run => true) ->> 'state') from pg_temp.team$$, 'a server of the settings is added with its key');
select tests.act_as_nobody();
select is(pg_temp.key('team'), 'of the holder', 'which it has');
select tests.act_as_user('other');
select public.operator_set_secret('TEAM_KEY', 'of the other');
select tests.act_as_nobody();
select is(pg_temp.key('team'), 'of the other', 'and the value with which another person rotates it');
select * from finish();
rollback;
