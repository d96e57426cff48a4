-- Who is calling: asked by the definer functions, which run as their owner.

create function private.is_service_caller()
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  -- Not by what it is called: a project may have roles of its own for its users.
  select pg_has_role(coalesce(nullif(current_setting('role', true), 'none'), session_user), 'service_role', 'member');
$$;
comment on function private.is_service_caller() is
  'True for the service role and for direct database sessions of who may take it on, false for anon, authenticated and every other role. Reads the role setting, which a definer function leaves as the caller set it.';
revoke all on function private.is_service_caller() from public;

create function private.touch_updated_at()
returns trigger
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  new.updated_at := clock_timestamp();
  return new;
end;
$$;
comment on function private.touch_updated_at() is 'Row trigger: sets updated_at to the time of the change.';
revoke all on function private.touch_updated_at() from public;
