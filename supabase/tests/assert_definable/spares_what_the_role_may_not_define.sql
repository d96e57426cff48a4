begin;
set local search_path = public, extensions;
select plan(9);

create table public.mine (id int);
create schema closed;
revoke create on schema closed from current_user;
create table tests.elsewhere (id int);
-- A role that owns nothing.
grant execute on function private.assert_definable(jsonb, oid, oid, jsonb) to service_role;
grant select on private.platform_objects to service_role;
create policy every_row on private.platform_objects for select to service_role using (true);

create function pg_temp.refusal(p_name text, p_effect text, p_schema text default null, p_may_exist boolean default false)
returns text language sql as $$
  select tests.code_of(format('select private.assert_definable(%L, to_regclass(%L), null, %L)',
    jsonb_build_object('kind', 'relation', 'schema', p_schema, 'name', p_name, 'effect', p_effect,
      'may_exist', p_may_exist, 'may_miss', false),
    concat_ws('.', p_schema, p_name), '["public", "closed"]'))
$$;
select is(pg_temp.refusal('fresh', 'create'), 'none', 'a free name can be created');
select is(pg_temp.refusal('mine', 'create'), 'SQL_FAILED', 'a taken name cannot');
select is(pg_temp.refusal('mine', 'create', null, true), 'none', 'but with IF NOT EXISTS');
select is(pg_temp.refusal('mine', 'change'), 'none', 'an own table can be changed');
select is(pg_temp.refusal('absent', 'change'), 'SQL_FAILED', 'an absent one cannot');
select is(pg_temp.refusal('mcp_grants', 'change'), 'SQL_FORBIDDEN', 'a table of the platform cannot');
select is(pg_temp.refusal('elsewhere', 'change', 'tests'), 'SQL_FORBIDDEN', 'a table of a schema that is not exposed cannot');
select is(
  (select count(*)::int from private.platform_objects where name in ('tasks', 'queue_health', 'trace_step', 'tasks_pkey')), 4,
  'tables, views, types and indexes of the platform are listed');
set local role service_role;
select is(pg_temp.refusal('mine', 'change'), 'SQL_RIGHT_MISSING', 'a role that does not own the table cannot change it');
reset role;

select * from finish();
rollback;
