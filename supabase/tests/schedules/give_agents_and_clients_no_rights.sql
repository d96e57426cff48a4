begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner'), tests.create_agent('worker-agent');
select tests.act_as_user('owner');
insert into public.schedules (agent, input, cron) values ('worker-agent', '"x"', '@daily');

create function pg_temp.claim(p_claim text, p_value text) returns void language sql as $$
  select set_config('request.jwt.claims',
    (current_setting('request.jwt.claims')::jsonb || jsonb_build_object(p_claim, p_value))::text, true)
$$;
select pg_temp.claim('supaswarm_actor', 'agent');
select is(tests.code_of($$insert into public.schedules (agent, input, cron) values ('worker-agent', '"x"', '@daily')$$),
  'AGENT_NOT_ALLOWED', 'an agent cannot add a schedule for its owner');
select is(tests.code_of($$update public.schedules set input = '"y"'$$), 'AGENT_NOT_ALLOWED', 'an agent cannot change a schedule');
select is(tests.code_of($$delete from public.schedules$$), 'AGENT_NOT_ALLOWED', 'an agent cannot delete a schedule');

select tests.act_as_nobody();
insert into public.mcp_grants (user_id, client_id, scopes) values
  (tests.user_id('owner'), 'reader', '{quoth:read}'), (tests.user_id('owner'), 'runner', '{swarm:run,quoth:read}');
select tests.act_as_user('owner'), pg_temp.claim('client_id', 'reader');
select is(tests.code_of($$insert into public.schedules (agent, input, cron) values ('worker-agent', '"x"', '@daily')$$),
  'INSUFFICIENT_SCOPE', 'an OAuth client needs swarm:run');
select tests.act_as_user('owner'), pg_temp.claim('client_id', 'runner');
insert into public.schedules (name, agent, input, cron) values ('of a client', 'worker-agent', '"x"', '@daily');

select tests.act_as_nobody();
update public.schedules set next_run_at = now() - interval '1 minute' where name = 'of a client';
select private.run_due_schedules();
select results_eq(
  $$select client.client_id, client.scopes from private.job_clients as client
    join public.schedules as schedule on schedule.last_task_id = client.job_id$$,
  $$values ('runner', '{swarm:run,quoth:read}'::text[])$$, 'its jobs have no more scopes than the client had'
);
update public.tasks set status = 'cancelled', finished_at = now();
update public.mcp_grants set scopes = '{quoth:read}' where client_id = 'runner';
update public.schedules set next_run_at = now() - interval '1 minute' where name = 'of a client';
select private.run_due_schedules();
select is((select last_error ->> 'code' from public.schedules where name = 'of a client'),
  'INSUFFICIENT_SCOPE', 'it no longer runs once the client may not create tasks');
select is((select count(*) from public.tasks)::int, 1, 'the refused run created nothing');

update private.quotas set amount = 2 where name = 'active_schedules';
select tests.act_as_user('owner');
select is(tests.code_of($$insert into public.schedules (agent, input, cron) values ('worker-agent', '"x"', '@daily')$$),
  'QUOTA_EXCEEDED', 'the number of active schedules is limited');

select * from finish();
rollback;
