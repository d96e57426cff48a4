-- Whether an installation works, as one reads after a deployment: what the command doctor and the console show.

create function private.installation_checks()
returns table (claim text, problem text, remedy text)
language plpgsql
stable
set search_path = ''
as $$
declare
  c_max_wait_seconds constant numeric := 120;
  c_named_agents constant int := 3;
begin
  claim := 'Its extensions are installed';
  remedy := 'Enable them under Database, Extensions in the dashboard.';
  select string_agg(wanted.name || ' is missing', ', ') into problem
  from unnest(array['pgmq', 'pg_net', 'pg_cron', 'supabase_vault', 'vector']) as wanted (name)
  where not exists (select from pg_catalog.pg_extension as present where present.extname = wanted.name);
  return next;
  -- The other checks read what these extensions provide.
  if problem is not null then
    return;
  end if;

  claim := 'All cron jobs are active';
  remedy := 'Schedule the jobs.';
  select string_agg(format('%s %s', found.name, found.problem), ', ' order by found.name), coalesce(max(found.hint), remedy)
  into problem, remedy
  from private.cron_problems() as found
  where found.field = 'job';
  return next;

  claim := 'Cron runs on time';
  remedy := 'Restart the database.';
  select max(format('%s %s', found.name, found.problem)), coalesce(max(found.hint), remedy)
  into problem, remedy
  from private.cron_problems(p_grace => '0') as found
  where found.field = 'command';
  return next;

  claim := 'The database knows the project''s address';
  remedy := 'Deploy the functions and create one task; that announces the address.';
  problem := case when not exists (select from private.settings where key = 'project_url')
    then 'no function has announced it' end;
  return next;

  claim := 'The last request of the database to a function succeeded';
  remedy := '401: deploy with verify_jwt = false. 404: deploy the functions. 500: read their logs.';
  problem := (
    select case when coalesce(response.status_code, 500) >= 300
      then coalesce(nullif(concat_ws(' ', response.status_code, response.error_msg), ''), 'it got no answer') end
    from net._http_response as response
    order by response.created desc
    limit 1
  );
  return next;

  claim := 'No task waits long for a worker';
  remedy := 'Read the log of supaswarm-worker; stuck_tasks names each task and the reason.';
  select case when max(line.oldest_wait_seconds) > c_max_wait_seconds
    then format('one waits for %s s, and %s workers run', round(max(line.oldest_wait_seconds)), max(line.live_worker_count)) end
  into problem
  from public.queue_health as line;
  return next;

  claim := 'The policies of Realtime and Storage exist';
  remedy := 'Create them again from the release''s migration.';
  select string_agg(to_json(wanted.name)::text, ', ' order by wanted.name collate "C") into problem
  from unnest(array[
    'operators read the files of the jobs that they opened', 'operators receive the broadcasts of the jobs that they opened',
    'owners read the files of their jobs', 'owners receive the broadcasts of their tasks', 'users delete what they uploaded',
    'users read what they uploaded', 'users replace what they uploaded', 'users upload into their own folder'
  ]) as wanted (name)
  where not exists (
    select from pg_catalog.pg_policy as present
    where present.polname = wanted.name
      and present.polrelid in ('realtime.messages'::regclass, 'storage.objects'::regclass)
  );
  return next;

  claim := 'Every agent''s provider has its key in Vault';
  remedy := 'Store it: select vault.create_secret(''<key>'', ''<name>''). Users with keys of their own do not need it, '
    'nor does an agent that a script on this machine answers: run a job of it once.';
  select string_agg(format('%s needs %s', agent.slug, provider.api_key_secret_name), ', ' order by agent.slug) into problem
  from public.agents as agent
  join public.llm_providers as provider on provider.id = agent.provider_id
  where agent.is_active and provider.requires_api_key
    and not exists (select from vault.secrets as stored where stored.name = provider.api_key_secret_name)
    -- Scripts are files of the embedded stack: doctor names them where it runs beside them,
    -- elsewhere only their answers show that there is one.
    and agent.slug <> all (string_to_array(coalesce(current_setting('supaswarm.scripted_agents', true), ''), ','))
    and not exists (
      select from (select * from public.usage_events order by id desc limit 10000) as answered
      join public.llm_providers as scripted on scripted.id = answered.provider_id
      where answered.agent_slug = agent.slug and answered.created_at > agent.updated_at and scripted.name = 'demo'
    );
  return next;

  claim := 'The webhooks of the service deliver their messages';
  remedy := 'Correct the receiver; then Setup, Webhooks in the console sends a message again.';
  select string_agg(format('%s: %s', found.name, found.problem), '; ' order by found.name) into problem
  from private.row_problems() as found
  where found.kind = 'webhook';
  return next;

  claim := 'Row triggers start their jobs';
  remedy := 'Correct each trigger; operator_configuration_problems has a row for each problem, and operator_row_starts lists failed starts.';
  select string_agg(format('%s: %s %s', found.name, found.field, found.problem), '; ' order by found.name, found.field) into problem
  from private.row_trigger_problems() as found;
  return next;

  claim := 'The users of each agent may use its tools';
  remedy := 'Write audience: everyone into the tool''s file and push, or grant the scope: select public.grant_scopes(<user>, ''{mcp:<tool>}''). operator_configuration_problems has a row for each.';
  select string_agg(format('users of %s lack the scope %s', lacking.agents, lacking.scope), '; ' order by lacking.scope)
  into problem
  from (
    select missing.scope, array_to_string((array_agg(distinct missing.agent))[:c_named_agents], ', ')
      || case when count(distinct missing.agent) > c_named_agents
        then format(' and %s other agents', count(distinct missing.agent) - c_named_agents) else '' end as agents
    from private.missing_scopes() as missing
    group by missing.scope
  ) as lacking;
  return next;
end;
$$;
comment on function private.installation_checks() is
  'What must hold for an installation to work: a row for each check, with the problem (null: it holds) and what to do. Returns only the first row while an extension is missing.';
grant execute on function private.installation_checks() to service_role;

create function private.operator_installation_checks()
returns table (claim text, problem text, remedy text)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform private.assert_operator('check the installation');
  return query select * from private.installation_checks();
end;
$$;
comment on function private.operator_installation_checks() is
  'installation_checks() for operators. Definer: it reads cron, the answers of functions and the names of secrets; assert_operator() checks the caller.';

create view public.operator_installation_checks with (security_invoker = true) as
  select * from private.operator_installation_checks();
revoke all on public.operator_installation_checks from anon, authenticated, service_role;
comment on view public.operator_installation_checks is
  'The checks of the command doctor that concern the database: what holds, the problem (null: it holds) and what to do. For operators and the service; INSUFFICIENT_SCOPE for all others.';
grant execute on function private.operator_installation_checks() to authenticated, service_role;
grant select on public.operator_installation_checks to authenticated, service_role;
