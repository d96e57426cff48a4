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

select is(pg_temp.secrets() #>> '{credential,secret}', 'key-of-all', 'the tool''s credential');
select is(
  pg_temp.secrets() -> 'named', '{"NOTES_REGION": "second-key", "NOTES_KEY": "key-of-all"}'::jsonb,
  'and what its headers and query name');

insert into public.mcp_policies (mcp_name, is_allowed) values ('notes', false);
select is(pg_temp.secrets(), null, 'nothing for a call that a policy forbids');
delete from public.mcp_policies where mcp_name = 'notes';

update public.tools set credential_secret_name = 'GONE' where slug = 'notes';
select is(pg_temp.secrets(), null, 'nothing when Vault lacks one');
select throws_ok(
  format('select private.resolve_tool_credential(%L, %L)', (select id from public.tools where slug = 'notes'), tests.user_id('ada')),
  'PT422', null, 'which is named to who asks for it alone');

update public.tools set type = 'internal', config = '{"server": "quoth"}' where slug = 'notes';
select is(pg_temp.secrets(), null, 'nothing for a server that is part of the product');

select * from finish();
rollback;
