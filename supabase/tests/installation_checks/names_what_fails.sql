begin;
set local search_path = public, extensions;
select plan(18);

create function pg_temp.problem(p_claim text) returns text language sql as $$
  select problem from public.operator_installation_checks where claim = p_claim;
$$;

select is(pg_temp.problem('All cron jobs are active'), null, 'all cron jobs are active after the installation');
select is(pg_temp.problem('The policies of Realtime and Storage exist'), null, 'and all policies exist');

select cron.alter_job(jobid, active => false) from cron.job where jobname = 'supaswarm-tick';
select is(pg_temp.problem('All cron jobs are active'), 'supaswarm-tick is inactive', 'an inactive job is named');
create temporary table jobs on commit drop as
select string_agg(jobname || ' is missing', ', ' order by jobname) as names from cron.job where jobname like 'supaswarm-%';
select cron.unschedule(jobname) from cron.job where jobname like 'supaswarm-%';
select is(pg_temp.problem('All cron jobs are active'), (select names from jobs), 'each missing job is named');

create temporary table policies on commit drop as
select polname, polrelid from pg_catalog.pg_policy
where polrelid in ('realtime.messages'::regclass, 'storage.objects'::regclass);
do $$
declare
  v_policy record;
begin
  for v_policy in select * from policies loop
    execute format('drop policy %I on %s', v_policy.polname, v_policy.polrelid::regclass);
  end loop;
end;
$$;
select is(pg_temp.problem('The policies of Realtime and Storage exist'),
  (select string_agg(to_json(polname)::text, ', ' order by polname::text collate "C") from policies), 'each missing policy is named');

select is(pg_temp.problem('Cron runs on time'), 'supaswarm-tick has never run', 'a tick that never ran is named');
select cron.schedule('supaswarm-tick', '15 seconds', 'select 1');
create function pg_temp.can_run(p_age interval) returns boolean language plpgsql as $$
begin
  insert into cron.job_run_details (jobid, status, start_time)
  select jobid, 'succeeded', clock_timestamp() - p_age from cron.job where jobname = 'supaswarm-tick';
  return true;
exception when insufficient_privilege then
  -- Only pg_cron writes the runs of some servers.
  return false;
end;
$$;
select is((select count(*)::int from private.cron_problems(p_grace => '0') where name = 'supaswarm-tick'), 1,
  'the problems of the configuration name it');
select is((select count(*)::int from private.cron_problems(p_grace => '1 year') where name = 'supaswarm-tick'), 0,
  'unless the release or the database is new');
select case when pg_temp.can_run('1 hour')
  then matches(pg_temp.problem('Cron runs on time'), '^supaswarm-tick has not run for 36\d\d s$', 'a tick that no longer runs is named')
  else skip('runs cannot be written', 1) end;
select case when pg_temp.can_run('0')
  then is(pg_temp.problem('Cron runs on time'), null, 'until it runs again')
  else skip('runs cannot be written', 1) end;

select tests.create_agent('keyless');
update public.llm_providers set requires_api_key = true, api_key_secret_name = 'ABSENT_KEY' where name = 'test';
select matches(pg_temp.problem('Every agent''s provider has its key in Vault'), 'keyless needs ABSENT_KEY', 'a missing key is named with its agent');

select set_config('supaswarm.scripted_agents', 'other,keyless', true);
select is(pg_temp.problem('Every agent''s provider has its key in Vault') ~ 'keyless', null, 'an agent that doctor names as scripted needs no key');
select set_config('supaswarm.scripted_agents', '', true);

insert into public.usage_events (agent_slug, provider_id, model, key_source, input_tokens, output_tokens, created_at)
select 'keyless', id, 'demo', 'none', 1, 1, now() - interval '1 day' from public.llm_providers where name = 'demo';
select matches(pg_temp.problem('Every agent''s provider has its key in Vault'), 'keyless needs ABSENT_KEY', 'also if a script answered before the agent was changed');
insert into public.usage_events (agent_slug, provider_id, model, key_source, input_tokens, output_tokens, created_at)
select 'keyless', id, 'demo', 'none', 1, 1, now() + interval '1 s' from public.llm_providers where name = 'demo';
select is(pg_temp.problem('Every agent''s provider has its key in Vault') ~ 'keyless', null, 'an agent that a script answers needs no key');

delete from private.settings where key = 'project_url';
select is(pg_temp.problem('The database knows the project''s address'), 'no function has announced it', 'an unknown address is named');

insert into public.tools (slug, name, type, config)
values ('crm', 'CRM', 'http_api', '{"method": "GET", "url": "https://crm.example.com", "parameters": {"type": "object"}}');
select tests.create_agent('teller-' || place) from generate_series(1, 5) as place;
insert into public.agent_tools (agent_id, tool_id)
select agent.id, tool.id from public.agents as agent, public.tools as tool where agent.slug like 'teller-%' and tool.slug = 'crm';
select is(pg_temp.problem('The users of each agent may use its tools'),
  'users of teller-1, teller-2, teller-3 and 2 other agents lack the scope mcp:crm', 'a missing scope is named once');

select is((select count(*)::int from public.operator_installation_checks where remedy is null or claim is null), 0, 'each check says what to do');

select tests.create_user('eve');
select tests.act_as_user('eve');
select is(tests.code_of('select * from public.operator_installation_checks'), 'INSUFFICIENT_SCOPE', 'only operators read this');
select tests.act_as_nobody();

select * from finish();
rollback;
