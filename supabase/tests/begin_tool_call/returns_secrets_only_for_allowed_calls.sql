begin;
set local search_path = public, extensions;
select plan(6);

select vault.create_secret('key-of-all', 'NOTES_KEY');
select vault.create_secret('second-key', 'NOTES_REGION');
insert into public.tools (name, slug, type, config, credential_type, credential_secret_name) values (
  'notes', 'notes', 'mcp_server',
  '{"mcp_url": "http://127.0.0.1:1/mcp", "headers": {"x-team": "plain", "x-region": {"secret": "NOTES_REGION"}}, "query": {"q": {"secret": "NOTES_KEY"}}}',
  'api_key', 'NOTES_KEY');
select tests.create_user('ada');
create function pg_temp.secrets() returns jsonb language sql as $$
  select nullif(private.begin_tool_call(jsonb_build_object(
    'server', 'notes', 'tool_name', 'search', 'is_charged', true,
    'caller', jsonb_build_object('user_id', tests.user_id('ada'), 'is_service', false))) -> 'secrets', 'null')
$$;

select is(pg_temp.secrets() #>> '{credential,secret}', 'key-of-all', 'the tool''s credential is returned');
select is(
  pg_temp.secrets() -> 'named', '{"NOTES_REGION": "second-key", "NOTES_KEY": "key-of-all"}'::jsonb,
  'the secrets that headers and query name are returned');

insert into public.mcp_policies (mcp_name, is_allowed) values ('notes', false);
select is(pg_temp.secrets(), null, 'a call that a policy forbids gets no secrets');
delete from public.mcp_policies where mcp_name = 'notes';

update public.tools set credential_secret_name = 'GONE' where slug = 'notes';
select is(pg_temp.secrets(), null, 'a call whose secret is missing in Vault gets no secrets');
select throws_ok(
  format('select private.resolve_tool_credential(%L, %L)', (select id from public.tools where slug = 'notes'), tests.user_id('ada')),
  'PT422', null, 'only the explicit lookup names the missing secret');

update public.tools set type = 'internal', config = '{"server": "quoth"}' where slug = 'notes';
select is(pg_temp.secrets(), null, 'an internal server gets no secrets');

select * from finish();
rollback;
