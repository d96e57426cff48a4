-- Wakes: a request that makes an edge function look for work. A wake is only a hint, and one wake serves
-- many tasks.

-- This token authorizes nothing but a wake. Every database role can read the headers in
-- net.http_request_queue, so they must not contain a secret key.
select vault.create_secret(
  replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''),
  'supaswarm_wake_token',
  'Lets the database wake edge functions, and nothing else'
)
where not exists (select from vault.decrypted_secrets where name = 'supaswarm_wake_token');

create function private.is_wake_token(p_token text)
returns boolean
language sql
stable
set search_path = ''
as $$
  -- Digests are compared, so that timing reveals nothing about the token.
  select exists (
    select from vault.decrypted_secrets
    where name = 'supaswarm_wake_token'
      and sha256(convert_to(decrypted_secret, 'utf8')) = sha256(convert_to(is_wake_token.p_token, 'utf8'))
  );
$$;
comment on function private.is_wake_token(text) is 'True for the wake token. Called by the edge functions that the database wakes, to authenticate a wake.';

create function private.reload_cron_jobs()
returns void
language plpgsql
set search_path = ''
as $$
declare
  c_key constant text := 'cron_loaded_for';
  -- pg_cron takes notice of a transaction within a second.
  c_settled_after constant interval := '10 seconds'::interval;
  v_release text := (
    select release.version
    from private.releases as release
    where release.installed_at < clock_timestamp() - c_settled_after
    order by release.installed_at desc
    limit 1
  );
begin
  if v_release is null or exists (
    select from private.settings as setting where setting.key = c_key and setting.value = v_release
  ) then
    return;
  end if;
  -- It changes nothing but lets pg_cron read its table.
  perform cron.alter_job(job.jobid, active => job.active) from cron.job where job.jobname = 'supaswarm-tick';
  insert into private.settings as setting (key, value)
  values (c_key, v_release)
  on conflict (key) do update set value = excluded.value, updated_at = now();
exception when others then
  -- operator_configuration_problems reports cron jobs that do not run.
  raise warning 'Cannot let pg_cron read its jobs: %', sqlerrm;
end;
$$;
comment on function private.reload_cron_jobs() is
  'Lets pg_cron read its jobs once after each release. A release changes so much in one transaction that the server discards the notice to a busy pg_cron, which then does not know the new jobs.';

create function private.configure_project_url(p_url text)
returns void
language sql
set search_path = ''
as $$
  insert into private.settings as setting (key, value)
  values ('project_url', rtrim(configure_project_url.p_url, '/'))
  on conflict (key) do update set value = excluded.value, updated_at = now()
  where setting.value <> excluded.value;
  select private.reload_cron_jobs();
$$;
comment on function private.configure_project_url(text) is
  'Stores the address of the project''s edge functions, and lets pg_cron read new jobs. The functions call it with SUPABASE_URL when they start. Call it manually in a project whose first task is not created through a function.';

create function private.wake_function(p_name text)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_project_url text := (select value from private.settings where key = 'project_url');
begin
  if v_project_url is null then
    return;
  end if;
  perform net.http_post(
    url := v_project_url || '/functions/v1/' || wake_function.p_name,
    headers := jsonb_build_object(
      'Content-Type', 'application/json',
      'x-supaswarm-wake-token',
      (select decrypted_secret from vault.decrypted_secrets where name = 'supaswarm_wake_token')
    ),
    -- As long as a cold start may take. pg_net waits for a whole batch, so a longer timeout would delay
    -- other requests.
    timeout_milliseconds := 5000
  );
exception when others then
  -- A wake is only a hint: tasks must still be created and queued when pg_net fails.
  raise warning 'Cannot wake %: %', wake_function.p_name, sqlerrm;
end;
$$;
comment on function private.wake_function(text) is
  'Asks an edge function to look for work, after the transaction commits. Sends nothing while no project URL is set.';

create function private.pass_wake_gates(p_names text[])
returns text[]
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  -- A session that holds a gate is about to wake a worker itself, so skip that gate.
  v_passed constant text[] := array(
    select name
    from private.wake_gate
    where name = any (p_names) and last_wake_at < clock_timestamp() - interval '150 milliseconds'
    for update skip locked
  );
begin
  if cardinality(v_passed) > 0 then
    update private.wake_gate set last_wake_at = clock_timestamp() where name = any (v_passed);
  end if;
  return v_passed;
end;
$$;
comment on function private.pass_wake_gates(text[]) is
  'Returns the gates of these names that the caller has passed and for which it must now send a wake. A gate lets one caller pass every 150 ms.';

create function private.open_wake_gate(p_name text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- A session that holds the gate is about to notify; the worker that wakes then comes here again.
  perform from private.wake_gate
  where name = p_name and last_wake_at > '-infinity'
  for update skip locked;
  if found then
    update private.wake_gate set last_wake_at = '-infinity' where name = p_name;
  end if;
end;
$$;
comment on function private.open_wake_gate(text) is
  'Lets the next wake pass, however recent the last one was. Called at the end of a claim that leaves a worker without work.';

create function private.wake_at_commit()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  -- The edge function, and the channel on which its running workers listen, if any.
  v_function_name constant text := tg_argv[0];
  v_channel constant text := tg_argv[1];
  v_passed constant text[] := private.pass_wake_gates(array[v_function_name, v_channel]);
begin
  if v_channel = any (v_passed) then
    perform pg_notify(v_channel, '');
  end if;
  -- A process with room listens, and an edge function would be started for nothing.
  if v_function_name = any (v_passed) and (v_channel is null or not private.has_free_process()) then
    perform private.wake_function(v_function_name);
  end if;
  return null;
end;
$$;
comment on function private.wake_at_commit() is
  'Deferred row trigger of a kind of work, with the arguments function[, channel]. When work can be claimed, it sends debounced wakes: a notification to listening workers, and a request that starts a worker if none runs. After a wake, a worker keeps looking for work for longer than the debounce interval. Definer: it runs at commit as the role that commits.';
