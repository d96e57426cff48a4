-- The database login for statements that run as a caller. No statement can gain the rights of another role.
--
-- Setting a role in a session that logged in as postgres protects nothing: any select may call
-- set_config('role', ...) and continue as postgres. So statements that the product did not write run in a
-- session of a separate login, whose only membership is authenticated.

create function private.caller_login_name()
returns text
language sql
stable
set search_path = ''
as $$
  -- One login per database: roles belong to the server, but passwords are in the database's Vault.
  select case current_database()
    when 'postgres' then 'supaswarm_caller'
    else 'supaswarm_caller_' || left(md5(current_database()), 8)
  end;
$$;
comment on function private.caller_login_name() is 'The role that logs in for work that runs as a caller.';

create function private.renew_caller_login()
returns void
language plpgsql
set search_path = ''
as $$
declare
  c_max_connections constant int := 40;
  v_name text := private.caller_login_name();
  v_password text := encode(extensions.gen_random_bytes(32), 'hex');
begin
  if not exists (select from pg_catalog.pg_roles where rolname = v_name) then
    execute format('create role %I', v_name);
    -- Lets the functions see and cancel the statements of this login.
    execute format('grant %I to %I', v_name, current_user);
  end if;
  execute format('alter role %I login noinherit connection limit %s password %L', v_name, c_max_connections, v_password);
  execute format('grant authenticated to %I', v_name);
  execute format('alter role %I set default_transaction_read_only = on', v_name);
  execute format('alter role %I set search_path = public, extensions', v_name);
  execute format('alter role %I set idle_in_transaction_session_timeout = ''30s''', v_name);
  begin
    -- Larger sorts and hash tables of one session fail instead of filling the disk.
    execute format('alter role %I set temp_file_limit = ''1GB''', v_name);
  exception when insufficient_privilege then
    raise log 'The temporary files of % are not limited: % may not set temp_file_limit', v_name, current_user;
  end;
  perform private.set_secret('supaswarm_caller_password', v_password, 'Password of the login of what runs as a caller');
end;
$$;
comment on function private.renew_caller_login() is
  'Creates the login for work that runs as a caller, or sets a new password, which is stored only in Vault. Functions use a new password from their next connection. Called at installation and by operators.';

create function private.caller_login()
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
    'name', private.caller_login_name(),
    'password', private.secret_value('supaswarm_caller_password')
  );
$$;
comment on function private.caller_login() is
  'Name and password of the login for work that runs as a caller. Called by functions before their first such connection.';

select private.renew_caller_login();

create function private.user_claims(p_user_id uuid)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'sub', account.id,
    'role', 'authenticated',
    'aud', 'authenticated',
    'email', account.email,
    'phone', nullif(to_jsonb(account) ->> 'phone', ''),
    'app_metadata', to_jsonb(account) -> 'raw_app_meta_data',
    'user_metadata', to_jsonb(account) -> 'raw_user_meta_data',
    'is_anonymous', to_jsonb(account) -> 'is_anonymous'
  ))
  from auth.users as account
  where account.id = user_claims.p_user_id;
$$;
comment on function private.user_claims(uuid) is
  'The claims that Auth would put into a user''s token, without those that only a sign-in proves (session, methods, assurance level). For calls on a user''s behalf without a token. Called by functions.';

create function private.call_as_caller(p_statement text, p_arguments jsonb)
returns setof jsonb
language plpgsql
security definer
set search_path = ''
as $$
begin
  -- The search_path of PostgREST, for functions that do not set one.
  perform set_config('search_path', 'public, extensions', true);
  return query execute p_statement using p_arguments;
end;
$$;
comment on function private.call_as_caller(text, jsonb) is
  'Runs a statement that calls a registered database function with $1. Definer, owned by authenticated: the function has no right that its caller lacks, and inside it Postgres refuses to set role or session_authorization, even when the session logged in as postgres. Called by the gateway as the caller.';
grant create on schema private to authenticated;
alter function private.call_as_caller(text, jsonb) owner to authenticated;
revoke create on schema private from authenticated;
