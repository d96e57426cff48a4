-- Who is calling: asked by the definer functions, which run as their owner.

create function private.is_service_caller()
returns boolean
language sql
stable
security invoker
set search_path = ''
as $$
  select current_setting('role', true) is null
      or current_setting('role', true) not in ('anon', 'authenticated');
$$;
comment on function private.is_service_caller() is
  'True for the service role and for direct database sessions, false for anon and authenticated. Reads the role setting, which a definer function leaves as the caller set it.';
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
