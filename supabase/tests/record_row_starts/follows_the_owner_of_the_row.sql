begin;
set local search_path = public, extensions;
select plan(9);

select tests.create_user('owner'), tests.create_user('stranger'), tests.create_row_trigger('{"events": ["insert"], "owner_column": "user_id"}');
create function pg_temp.insert_of(p_id int, p_user text default null) returns text language plpgsql security definer as $$
declare
  v_start private.row_starts;
begin
  insert into public.orders (id, user_id) values (p_id, tests.user_id(p_user));
  delete from private.row_starts returning * into v_start;
  return concat_ws(' ', v_start.error ->> 'code', case v_start.owner_key
    when tests.user_id('owner') then 'owner' when tests.user_id('stranger') then 'stranger'
    when '00000000-0000-0000-0000-000000000000' then 'service' end, v_start.input, v_start.client_id, v_start.client_scopes::text);
end;
$$;

select tests.act_as_user('owner');
select is(pg_temp.insert_of(1, 'owner'), 'owner {"order": 1}', 'a user starts a job for themself');
select is(pg_temp.insert_of(2, 'stranger'), 'FORBIDDEN owner', 'not for another owner, whose row gives no input');
select is(pg_temp.insert_of(3), 'owner {"order": 3}', 'a row without an owner belongs to who changed it');
select tests.act_as_anon();
select is(pg_temp.insert_of(4, 'owner'), 'FORBIDDEN service', 'an anonymous writer starts nothing');
select is(pg_temp.insert_of(5), 'FORBIDDEN service', 'not for the service either');
select tests.act_as_service();
select is(pg_temp.insert_of(6, 'owner'), 'owner {"order": 6}', 'the service starts a job for the owner of the row');
select is(pg_temp.insert_of(7), 'service {"order": 7}', 'or for itself');
select tests.act_as_user('owner');
select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || '{"supaswarm_actor": "agent"}')::text, true);
select is(pg_temp.insert_of(8, 'owner'), '', 'what an agent writes starts nothing');
select tests.act_as_nobody();
insert into public.mcp_grants (user_id, client_id, scopes) values (tests.user_id('owner'), 'app', '{swarm:run,quoth:read}');
select tests.act_as_user('owner');
select set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb || '{"client_id": "app"}')::text, true);
select is(pg_temp.insert_of(9, 'owner'), 'owner {"order": 9} app {swarm:run,quoth:read}', 'an OAuth client limits the job to its scopes');

select * from finish();
rollback;
