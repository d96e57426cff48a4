-- Starts: the jobs that changed rows ask for. A statement trigger records them in the transaction of the change, in one
-- insert; row_start_jobs.sql makes jobs of them.
--
-- What runs in a project's transaction only appends rows: it waits for no lock, and its errors are recorded instead of
-- raised, so that no change of a project's data fails or waits because of an agent.

create table private.row_starts (
  id bigint generated always as identity primary key,
  -- No foreign keys: their checks would take longer than the rest of the insert.
  trigger_id uuid not null,
  event text not null,
  row_key text,
  owner_key uuid not null,
  client_id text,
  client_scopes text[],
  input jsonb,
  is_debounced boolean not null,
  due_at timestamptz not null,
  error jsonb
) with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
comment on table private.row_starts is
  'Jobs that changed rows ask for: not started yet, or (error) refused. A start that became a job is deleted in the same transaction.';
comment on column private.row_starts.row_key is 'The values of the key, or their hash when they are long. Empty for a whole statement; null when the statement could not be read.';
comment on column private.row_starts.owner_key is 'For whom the job runs; as in tasks, the nil UUID stands for the service. Of a start that is FORBIDDEN: the user who changed the row.';
comment on column private.row_starts.client_id is 'The OAuth client that changed the row, and in client_scopes the scopes that it had. They limit the job.';
alter table private.row_starts enable row level security;
create index row_starts_line_idx on private.row_starts (owner_key, due_at, id) where error is null;
create index row_starts_failed_idx on private.row_starts (owner_key) where error is not null;
create index row_starts_debounced_idx on private.row_starts (trigger_id, row_key, id) where is_debounced and error is null;

create table private.row_start_counts (
  trigger_id uuid not null,
  key text not null,
  hour timestamptz not null,
  job_count int not null default 1,
  primary key (trigger_id, key, hour)
);
comment on table private.row_start_counts is 'How many jobs a row trigger has started for a key, or for whole statements of an owner, in an hour.';
alter table private.row_start_counts enable row level security;

create table private.row_start_pauses (
  owner_key uuid primary key,
  until timestamptz not null,
  error jsonb not null
);
comment on table private.row_start_pauses is 'Owners whose starts wait because a quota has refused one, until when, and the refusal.';
alter table private.row_start_pauses enable row level security;

create constraint trigger row_starts_wake after insert on private.row_starts
  deferrable initially deferred for each row
  -- As tasks_wake_on_insert: once per transaction. A debounced start is found by a later claim or by cron.
  when (case
    when new.error is not null or new.is_debounced then false
    when current_setting('supaswarm.wakes_at_commit', true) = 'true' then false
    else set_config('supaswarm.wakes_at_commit', 'true', true) = 'true'
  end)
  execute function private.wake_at_commit('supaswarm-worker', 'supaswarm_tasks');

create function private.delete_row_starts_of_user()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  -- Two statements, because each index has a part of the rows.
  delete from private.row_starts where owner_key = old.id and error is null;
  delete from private.row_starts where owner_key = old.id and error is not null;
  return null;
end;
$$;
comment on function private.delete_row_starts_of_user() is
  'Row trigger of auth.users: deletes the starts of a deleted user. Definer: the role of Auth may not write them.';
create trigger users_delete_row_starts after delete on auth.users
  for each row execute function private.delete_row_starts_of_user();

-- Recording ---------------------------------------------------------------------------------------

create function private.record_refused_start(p_trigger_id uuid, p_event text, p_owner_key uuid, p_error jsonb)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if not exists (
    select from private.row_starts
    where owner_key = p_owner_key and error is not null and trigger_id = p_trigger_id and row_key is null and error ->> 'code' = p_error ->> 'code'
  ) then
    insert into private.row_starts (trigger_id, event, owner_key, is_debounced, due_at, error)
    values (p_trigger_id, p_event, p_owner_key, false, clock_timestamp(), p_error);
  end if;
end;
$$;
comment on function private.record_refused_start(uuid, text, uuid, jsonb) is
  'Records why a statement''s changes start nothing, once for a trigger, user and code, so that repeated statements do not fill the table.';

create function private.start_count(p_owner_id uuid, p_max bigint)
returns bigint
language sql
stable
set search_path = ''
as $$
  select (
    select count(*) from (
      select from private.row_starts
      where owner_key = p_owner_id and error is null limit p_max
    ) as waiting
  ) + (
    select count(*) from (
      select from private.row_starts
      where owner_key = p_owner_id and error is not null limit p_max
    ) as failed
  );
$$;
comment on function private.start_count(uuid, bigint) is 'How many starts of a user wait or have failed, each counted up to p_max.';

create function private.record_row_starts()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
declare
  c_service constant uuid := '00000000-0000-0000-0000-000000000000';
  v_trigger_id constant uuid := tg_argv[0];
  v_event constant text := lower(tg_op);
  v_is_trusted boolean;
  v_writer_id uuid;
  v_client_id text;
  v_max_starts bigint;
  v_error jsonb;
  v_statement text;
  v_debounce_seconds int;
begin
  -- What a job writes starts no other job.
  if private.is_agent_call() then
    return null;
  end if;
  -- Auth runs a project's triggers of new accounts.
  v_is_trusted := private.is_service_caller()
    or coalesce(nullif(current_setting('role', true), 'none'), session_user) = 'supabase_auth_admin';
  if not v_is_trusted then
    v_writer_id := auth.uid();
    v_max_starts := private.quota('waiting_tasks', v_writer_id);
    v_error := case
      when v_writer_id is null then jsonb_build_object('code', 'FORBIDDEN',
        'message', 'Cannot start the job: the rows were changed by neither a signed-in user nor the service',
        'hint', 'Let the service or signed-in users write the table.')
      when v_max_starts is not null and private.start_count(v_writer_id, v_max_starts) >= v_max_starts then jsonb_build_object('code', 'QUOTA_EXCEEDED',
        'message', format('Cannot start the job: %s starts of the user wait or have failed, as many as the quota waiting_tasks allows', v_max_starts),
        'hint', 'Later changes of rows start jobs again when fewer wait.')
    end;
    v_client_id := case when private.calling_actor() = 'client' then private.request_claims() ->> 'client_id' end;
  end if;
  select stored.statement, listed.debounce_seconds into strict v_statement, v_debounce_seconds
  from private.row_trigger_statements as stored
  join public.row_triggers as listed on listed.id = stored.trigger_id
  where stored.trigger_id = v_trigger_id and stored.event = v_event;
  execute case
    when v_error is not null then format('select private.record_refused_start($1, $8, $9, $10) where exists (%s)', v_statement)
    else 'insert into private.row_starts '
      '(trigger_id, event, row_key, owner_key, client_id, client_scopes, input, is_debounced, due_at, error)' || v_statement
  end
  using v_trigger_id, v_writer_id, v_is_trusted, v_client_id,
    case when v_client_id is not null then private.granted_scopes(v_writer_id, v_client_id) end,
    clock_timestamp() + make_interval(secs => v_debounce_seconds),
    jsonb_build_object('code', 'FORBIDDEN', 'message', 'Cannot start the job: a user changed a row that names another owner',
      'hint', 'Users start jobs only for themselves; the service starts them for the owner of any row.'),
    v_event, coalesce(v_writer_id, c_service), v_error;
  return null;
exception when others then
  -- The change of the project's data does not depend on what it would start.
  begin
    perform private.record_refused_start(v_trigger_id, v_event, c_service, jsonb_build_object('code', 'TRIGGER_INVALID',
      'message', 'Cannot read the changed rows: ' || sqlerrm,
      'hint', 'Correct the trigger; operator_configuration_problems says what is wrong. Changes until then have started nothing.'));
  exception when others then
    raise warning 'Cannot record that a row trigger failed: %', sqlerrm;
  end;
  return null;
end;
$$;
comment on function private.record_row_starts() is
  'Statement trigger (id of the row trigger) on tables of the project: records the starts that the changed rows ask for. Never raises. A signed-in writer starts jobs only for themself, the service for the row''s owner or for itself, an anonymous writer none. Definer: writers have no rights on starts. It runs only statements that row_start_statement() has built.';
