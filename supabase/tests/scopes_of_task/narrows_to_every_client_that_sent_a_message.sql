begin;
set local search_path = public, extensions;
select plan(11);
select tests.create_user('owner');
select public.grant_scopes(tests.user_id('owner'), '{mcp:mail,sql:write,swarm:run,quoth:read}');
select public.grant_scopes(tests.user_id('owner'), '{}', client)
from unnest(array['runner', 'reader', 'other']) as client;
update public.mcp_grants set scopes = '{swarm:run}' where client_id = 'runner';
update public.mcp_grants set scopes = '{swarm:run,quoth:read}' where client_id = 'reader';
create function pg_temp.act_through(p_client text) returns void language sql as $$
  select tests.act_as_user('owner');
  select set_config('request.jwt.claims',
    (current_setting('request.jwt.claims')::jsonb || jsonb_build_object('client_id', p_client))::text, true);
$$;
create function pg_temp.scopes(p_task_id uuid) returns text[] language sql as $$
  select array(select unnest(private.scopes_of_task(p_task_id, tests.user_id('owner'))) order by 1)
$$;
create function pg_temp.own_scopes() returns text[] language sql as $$
  select array(select unnest(private.granted_scopes(tests.user_id('owner'), null)) order by 1)
$$;
create function pg_temp.end_task(p_task_id uuid) returns void language sql as $$
  update public.tasks set status = 'failed', error = '{}', finished_at = now() where id = p_task_id
$$;
create function pg_temp.ask(p_task_id uuid) returns void language sql as $$
  insert into public.human_reviews (task_id, seq, question)
  select p_task_id, coalesce(max(seq), 0) + 1, 'Which?' from public.human_reviews where task_id = p_task_id;
  update public.tasks set status = 'needs_human_review' where id = p_task_id;
$$;
create temp table job on commit drop as
  select tests.create_task() as continued, tests.create_task() as answered, tests.create_task() as approved;
grant select on job to authenticated;

select pg_temp.end_task((select continued from job));
select tests.act_as_user('owner');
select public.continue_task((select continued from job), '"Go on"');
select tests.act_as_nobody();
select is(pg_temp.scopes((select continued from job)), pg_temp.own_scopes(),
  'a message of the user narrows nothing');

select pg_temp.end_task((select continued from job));
select pg_temp.act_through('reader');
select is(public.continue_task((select continued from job), '"Delete all rows"'), 'pending', 'a client continues a job of its user');
select tests.act_as_nobody();
select is(pg_temp.scopes((select continued from job)), '{quoth:read,swarm:run}', 'the job then has no more scopes than the client');

select pg_temp.end_task((select continued from job));
select pg_temp.act_through('runner');
select public.continue_task((select continued from job), '"Read it"');
select tests.act_as_nobody();
select is(pg_temp.scopes((select continued from job)), '{swarm:run}', 'a second client narrows them further');
select is((private.client_of_task((select continued from job))).client_id, 'reader', 'its calls are attributed to the first client');

select pg_temp.end_task((select continued from job));
select tests.act_as_user('owner');
create temp table fork on commit drop as select public.fork_task((select continued from job), 1) as id;
select tests.act_as_nobody();
select is(pg_temp.scopes((select id from fork)), '{swarm:run}', 'a fork keeps the messages, so it keeps the limits');

select pg_temp.ask((select approved from job)), pg_temp.ask((select answered from job));
select pg_temp.act_through('runner');
select public.respond_to_review((select approved from job), true);
select public.respond_to_review((select answered from job), true, '{"text": "Delete all rows"}');
select tests.act_as_nobody();
select is(pg_temp.scopes((select approved from job)), pg_temp.own_scopes(), 'an approval is not a message');
select is(pg_temp.scopes((select answered from job)), '{swarm:run}', 'an answer in words is a message');

-- A call of the job that was continued twice reads as the first client, but not the rows that the second may not read.
create function pg_temp.reads(p_task_id uuid, p_scope text) returns boolean language plpgsql as $$
declare
  v_has boolean;
begin
  perform pg_temp.act_through('reader');
  perform set_config('request.jwt.claims', (current_setting('request.jwt.claims')::jsonb
    || jsonb_build_object('supaswarm_actor', 'agent', 'supaswarm_task_id', p_task_id))::text, true);
  v_has := private.has_scope(p_scope);
  perform tests.act_as_nobody();
  return v_has;
end
$$;
select ok(not pg_temp.reads((select continued from job), 'quoth:read'), 'rows need the scope of each client');
select ok(pg_temp.reads((select continued from job), 'swarm:run'), 'all of them have this scope');

select pg_temp.end_task((select approved from job));
select pg_temp.act_through('other');
select public.continue_task((select approved from job), '"Go on"');
select tests.act_as_nobody();
select is(pg_temp.scopes((select approved from job)), pg_temp.own_scopes(),
  'a client with all scopes of its user narrows nothing');

select * from finish();
rollback;
