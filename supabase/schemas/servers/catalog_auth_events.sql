-- Sign-in events that clients report. Nothing sensitive is stored.

create table public.auth_events (
  id bigint generated always as identity primary key,
  user_id uuid not null references auth.users (id) on delete cascade,
  event text not null check (event in (
    'SIGNED_IN', 'SIGNED_OUT', 'TOKEN_REFRESHED', 'SESSION_RESTORED', 'USER_UPDATED'
  )),
  metadata jsonb not null default '{}' check (jsonb_typeof(metadata) = 'object'),
  created_at timestamptz not null default now(),
  -- The tool drops unknown fields; this constraint applies the same list to other writers.
  constraint auth_events_metadata_is_whitelisted check (
    metadata - array['provider', 'method', 'platform', 'app_version', 'locale', 'time_zone'] = '{}'
    and length(metadata::text) <= 1000
  )
);
revoke all on public.auth_events from anon, authenticated, service_role;
revoke all on sequence public.auth_events_id_seq from anon, authenticated, service_role;
create index auth_events_user_id_idx on public.auth_events (user_id, created_at);
create index auth_events_created_at_idx on public.auth_events (created_at);
comment on table public.auth_events is
  'Session changes that users'' clients report with log_auth_event. For support, not for audits: use auth.audit_log_entries for those.';
comment on column public.auth_events.metadata is 'Any of provider, method, platform, app_version, locale and time_zone.';

alter table public.auth_events enable row level security;
create policy "users read their own auth events" on public.auth_events
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('credentials:write'))
  );
comment on policy "users read their own auth events" on public.auth_events is
  'An OAuth client needs credentials:write, because other clients do not need to know how a user signs in.';
grant select on public.auth_events to authenticated;
grant select, insert, update, delete on public.auth_events to service_role;

create function private.log_auth_event(p_event text, p_metadata jsonb)
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into public.auth_events (user_id, event, metadata) values (auth.uid(), p_event, p_metadata);
end;
$$;
comment on function private.log_auth_event(text, jsonb) is
  'Stores an event of the caller. Definer: users may not write the table; the row belongs to auth.uid(). Called by the server catalog.';
grant execute on function private.log_auth_event(text, jsonb) to authenticated;

-- An endless loop in a page must not fill the table.
insert into public.mcp_policies (mcp_name, tool_name, calls_per_minute, burst_calls)
values ('catalog', 'log_auth_event', 30, 10);

create function private.delete_old_auth_events(p_limit int)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_before constant timestamptz := clock_timestamp()
    - make_interval(days => private.retention_days('keep_auth_events_days'));
  v_count int;
begin
  delete from public.auth_events
  where id in (
    select id from public.auth_events where created_at < v_before order by created_at limit p_limit
    for update skip locked
  );
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.delete_old_auth_events(int) is
  'Deletes up to p_limit auth events older than keep_auth_events_days (default 90), and returns how many. Called by cron.';

select cron.schedule('supaswarm-delete-auth-events', '47 * * * *', 'select private.delete_old_auth_events(10000)');
