begin;
set local search_path = public, extensions;
select plan(9);

insert into public.tools (name, slug, type, config) values ('notes', 'notes', 'mcp_server', '{"mcp_url": "http://127.0.0.1:1/mcp"}');
select tests.create_user('ada');
create function pg_temp.connection(p_name text) returns uuid language sql as $$
  select private.ensure_connection((select id from public.tools where slug = 'notes'), tests.user_id(p_name))
$$;

create temp table made on commit drop as select pg_temp.connection(null) as service_id, pg_temp.connection('ada') as ada_id;
select isnt((select service_id from made), (select ada_id from made), 'the service and a user have one connection each');
select is(pg_temp.connection(null), (select service_id from made), 'the service keeps its connection');
select is(pg_temp.connection('ada'), (select ada_id from made), 'the user keeps their connection');

update public.agent_mcp_connections set protocol = '2026-07-28', failure_count = 3, tools_listed_at = now();
select pg_temp.connection('ada');
select is((select protocol from public.agent_mcp_connections where user_id is not null), '2026-07-28', 'the known protocol is kept');
update public.tools set config = '{"mcp_url": "http://127.0.0.1:2/mcp"}' where slug = 'notes';
select is(pg_temp.connection('ada'), (select ada_id from made), 'a changed tool row keeps the connection');
select is(
  (select row(protocol, failure_count, tools_listed_at)::text from public.agent_mcp_connections where user_id is not null),
  '(,0,)', 'the connection forgets the state of the old server');

select vault.create_secret('one', 'NOTES_KEY'), vault.create_secret('two', 'NOTES_TENANT');
update public.tools set credential_secret_name = 'NOTES_KEY', config = config || '{"headers": {"X-Tenant": {"secret": "NOTES_TENANT"}}}'
where slug = 'notes';
create function pg_temp.keeps_session() returns boolean language plpgsql as $$
begin
  perform pg_temp.connection('ada');
  return (select session is not null from public.agent_mcp_connections where user_id is not null);
end;
$$;
create function pg_temp.replace_secret(p_name text) returns void language sql as $$
  select vault.update_secret((select id from vault.secrets where name = p_name), 'new');
  update public.agent_mcp_connections set session = '{"id": "s"}';
$$;
select pg_temp.connection('ada');
update public.agent_mcp_connections set session = '{"id": "s"}';
select is(pg_temp.keeps_session(), true, 'the session is kept');
select pg_temp.replace_secret('NOTES_KEY');
select is(pg_temp.keeps_session(), false, 'replacing the tool''s secret ends the session');
update public.tools set credential_secret_name = null where slug = 'notes';
select pg_temp.connection('ada');
select pg_temp.replace_secret('NOTES_TENANT');
select is(pg_temp.keeps_session(), false, 'replacing a secret that a header names ends the session too');

select * from finish();
rollback;
