begin;
set local search_path = public, extensions;
select plan(4);

insert into public.tools (name, slug, type, config) values ('notes', 'notes', 'mcp_server', '{"mcp_url": "http://127.0.0.1:1/mcp"}');
create temp table made on commit drop as
select private.ensure_connection((select id from public.tools where slug = 'notes'), null) as id;
create function pg_temp.succeed() returns timestamptz language sql as $$
  select public.record_mcp_tool_success((select id from made));
  select last_success_at from public.agent_mcp_connections;
$$;

create temp table first_time on commit drop as select pg_temp.succeed() as at;
select isnt((select at from first_time), null, 'the first success is written');
select is(pg_temp.succeed(), (select at from first_time), 'the next one within a second is not');

select private.record_connection_failure((select id from made));
select pg_temp.succeed();
select is((select failure_count from public.agent_mcp_connections), 0, 'it is written if the server failed in between');
update public.agent_mcp_connections set last_success_at = clock_timestamp() - interval '2 seconds';
select ok(pg_temp.succeed() > (select at from first_time), 'it is written after a second');

select * from finish();
rollback;
