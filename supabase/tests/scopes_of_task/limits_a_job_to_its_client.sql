begin;
set local search_path = public, extensions;
select plan(7);
select tests.create_user('owner');
select tests.create_agent('worker-agent');
select public.grant_scopes(tests.user_id('owner'), '{mcp:mail,sql:read}');
select public.grant_scopes(tests.user_id('owner'), '{}', 'editor');
update public.mcp_grants set scopes = '{swarm:run,mcp:mail}' where client_id = 'editor';
create temp table task on commit drop as
  select task_id as id
  from private.request_task(
    jsonb_build_object('actor', 'client', 'user_id', tests.user_id('owner'), 'client_id', 'editor'),
    '{"agent": "worker-agent", "input": "Do it"}', null, null
  );
create function pg_temp.scopes() returns text[] language sql
  as $$ select array(select unnest(private.scopes_of_task((select id from task), tests.user_id('owner'))) order by 1) $$;

select is(pg_temp.scopes(), '{mcp:mail,swarm:run}', 'the job has the scopes of the client that created it');
select is(
  private.scopes_of_task(tests.create_task(), tests.user_id('owner')),
  private.granted_scopes(tests.user_id('owner'), null),
  'a job that the user creates directly has all scopes of the user'
);

update public.mcp_grants set scopes = '{swarm:run,mcp:mail,sql:write}' where client_id = 'editor';
select is(pg_temp.scopes(), '{mcp:mail,swarm:run}', 'scopes granted to the client later do not apply to its older job');
update public.mcp_grants set scopes = '{swarm:run}' where client_id = 'editor';
select is(pg_temp.scopes(), '{swarm:run}', 'scopes revoked from the client no longer apply to its job');
update public.mcp_grants set scopes = '{admin:*}' where client_id = 'editor';
update public.mcp_grants set scopes = '{sql:read}' where user_id = tests.user_id('owner') and client_id is null;
select is(pg_temp.scopes(), '{}', 'the job has no scope that its owner lacks');
update public.mcp_grants set scopes = '{admin:*}' where user_id = tests.user_id('owner') and client_id is null;
select is(pg_temp.scopes(), '{mcp:mail,swarm:run}', 'admin:* of the owner does not extend the client''s scopes');

create temp table child on commit drop as
  select private.spawn_one(task, null, 'worker-agent', '"Help"', null) as id
  from public.tasks as task where task.id = (select id from task);
select is(
  private.scopes_of_task((select id from child), tests.user_id('owner')),
  private.scopes_of_task((select id from task), tests.user_id('owner')),
  'its subtasks have the same scopes'
);
select * from finish();
rollback;
