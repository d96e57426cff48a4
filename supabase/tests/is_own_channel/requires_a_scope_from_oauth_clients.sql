begin;
set local search_path = public, extensions;
select plan(4);
create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select public.grant_scopes(tests.user_id('owner'), '{}', client) from unnest(array['reader', 'runner']) as client;
update public.mcp_grants set scopes = '{quoth:read}' where client_id = 'reader';
create function pg_temp.act_as_client(p_client text) returns void language sql as $$
  select tests.act_as_user('owner');
  select set_config('request.jwt.claims',
    (current_setting('request.jwt.claims')::jsonb || jsonb_build_object('client_id', p_client))::text, true);
$$;

select pg_temp.act_as_client('reader');
select ok(not private.join_channel('supaswarm:master:' || (select id from made)), 'a client with only search scopes cannot join a job');
select ok(not private.join_channel('supaswarm:task:' || (select id from made)), 'it cannot join a task either');
select tests.act_as_nobody();
select pg_temp.act_as_client('runner');
select ok(private.join_channel('supaswarm:task:' || (select id from made)), 'with swarm:run it can join');
select tests.act_as_nobody();
select tests.act_as_user('owner');
select ok(private.join_channel('supaswarm:master:' || (select id from made)), 'the user can join too');
select tests.act_as_nobody();
select * from finish();
rollback;
