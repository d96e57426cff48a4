-- Wakes: an edge function is asked to look for its work. A wake is only a hint, sent once for many.

-- Good for nothing but a wake: headers queued in net.http_request_queue are readable by every
-- database role, so no secret key may stand there.
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
comment on function private.is_wake_token(text) is 'Called by the functions that the database wakes, to authenticate a wake.';

create function private.configure_project_url(p_url text)
returns void
language sql
set search_path = ''
as $$
  insert into private.settings as setting (key, value)
  values ('project_url', rtrim(configure_project_url.p_url, '/'))
  on conflict (key) do update set value = excluded.value, updated_at = now()
  where setting.value <> excluded.value;
$$;
comment on function private.configure_project_url(text) is
  'Stores the address of the project''s edge functions. The functions call it with SUPABASE_URL when they start; call it manually in a project whose first task does not come through a function.';

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
    -- As long as a cold start may take. pg_net waits for a whole batch, so more would delay others.
    timeout_milliseconds := 5000
  );
exception when others then
  -- A wake is only a hint: without pg_net a task must still be created, and its queue kept.
  raise warning 'Cannot wake %: %', wake_function.p_name, sqlerrm;
end;
$$;
comment on function private.wake_function(text) is
  'Asks an edge function to look for its work, after commit. Without a project URL nothing is sent.';

create function private.pass_wake_gates(p_names text[])
returns text[]
language plpgsql
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  -- The session that holds a gate is about to wake a worker: do not wait for it.
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
  'The gates of that name that this caller has passed, which at most one does each 150 ms, and who then wakes.';

create function private.open_wake_gate(p_name text)
returns void
language plpgsql
set search_path = ''
as $$
begin
  -- The session that holds the gate is about to notify, which leads here again.
  perform from private.wake_gate
  where name = p_name and last_wake_at > '-infinity'
  for update skip locked;
  if found then
    update private.wake_gate set last_wake_at = '-infinity' where name = p_name;
  end if;
end;
$$;
comment on function private.open_wake_gate(text) is
  'Lets the next wake pass, however recently the last one did: called by a claim that leaves a worker with nothing to do, at the end of its transaction.';

create function private.wake_at_commit()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  -- The edge function, and the channel of those workers that listen, where there is one.
  v_function_name constant text := tg_argv[0];
  v_channel constant text := tg_argv[1];
  v_passed constant text[] := private.pass_wake_gates(array[v_function_name, v_channel]);
begin
  if v_channel = any (v_passed) then
    perform pg_notify(v_channel, '');
  end if;
  if v_function_name = any (v_passed) then
    perform private.wake_function(v_function_name);
  end if;
  return null;
end;
$$;
comment on function private.wake_at_commit() is
  'Deferred row trigger of a kind of work (function[, channel]): debounced wakes for work that can be claimed, a notification for workers that listen and a request for one that may have to start. A worker looks again for longer than the debounce. Definer: it runs at commit as the committing role.';
