-- A job scheduler with the interface of pg_cron 1.6. The stack's scheduler reads cron.job, runs due
-- jobs as the job's user, and records each run in cron.job_run_details.
--
-- Schedules are in GMT: five cron fields, a name such as '@hourly', or '[1-59] seconds'.

create schema cron;

create sequence cron.jobid_seq;
create sequence cron.runid_seq;

create table cron.job (
  jobid bigint primary key default nextval('cron.jobid_seq'),
  schedule text not null,
  command text not null,
  nodename text not null default 'localhost',
  nodeport integer not null default current_setting('port')::integer,
  database text not null default current_database(),
  username text not null default current_user,
  active boolean not null default true,
  jobname text,
  constraint jobname_username_uniq unique (jobname, username)
);
comment on table cron.job is 'Jobs. A role sees only its own.';

create table cron.job_run_details (
  jobid bigint,
  runid bigint primary key default nextval('cron.runid_seq'),
  job_pid integer,
  database text,
  username text,
  command text,
  status text,
  return_message text,
  start_time timestamptz,
  end_time timestamptz
);
comment on table cron.job_run_details is
  'Every run. A role can see and delete only its own. Rows are never pruned: schedule a delete.';
create index job_run_details_jobid_idx on cron.job_run_details (jobid);

alter table cron.job enable row level security;
alter table cron.job_run_details enable row level security;
create policy cron_job_policy on cron.job using (username = current_user);
create policy cron_job_run_details_policy on cron.job_run_details using (username = current_user);

-- Schedules ------------------------------------------------------------------------------------
--
-- pg_cron reads a schedule character by character, like cron, and stops at unknown characters: text
-- after a complete item ('5;', '*x', a sixth field) is ignored.

-- One value of a cron field: a number, or the English abbreviation where the field has names.
create function cron._field_value(value text, names text[], lowest integer) returns integer
language sql
immutable
set search_path = ''
as $$
  select case
    when _field_value.value ~ '^0*\d{1,4}$' then _field_value.value::numeric::integer
    else array_position(_field_value.names, lower(_field_value.value)) - 1 + lowest
  end;
$$;

-- Whether `field` starts with a list of '*', values and ranges, where '*' and ranges may have a step.
-- A range may be reversed: then it is never due.
create function cron._is_field(field text, lowest integer, highest integer, names text[] default '{}')
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
declare
  rest text := field;
  part text[];
  first_value integer;
  last_value integer;
  step integer;
begin
  loop
    part := regexp_match(
      rest, '^(?:(\*)|([a-z0-9]+)(?:(-)([a-z0-9]*))?)(?:(/)([a-z0-9]*))?(.*)$', 'i');
    if part is null then
      return false;
    end if;
    first_value := case when part[1] is null then cron._field_value(part[2], names, lowest) else lowest end;
    last_value := case
      when part[1] is not null then highest
      when part[3] is not null then cron._field_value(part[4], names, lowest)
      else first_value
    end;
    step := case when part[5] is null then 1 else cron._field_value(part[6], '{}', 0) end;
    if first_value is null or first_value not between lowest and highest
      or last_value is null or last_value not between lowest and highest
      or step is null or step not between 1 and highest
      or (part[5] is not null and part[1] is null and part[3] is null) -- a step of a single value
    then
      return false;
    end if;
    if left(part[7], 1) <> ',' then
      return true;
    end if;
    rest := substr(part[7], 2);
  end loop;
end;
$$;

create function cron._is_schedule(schedule text) returns boolean
language plpgsql
immutable
set search_path = ''
as $$
declare
  -- Skip leading blank lines and comments. Only the first other line counts.
  line text := split_part(
    regexp_replace(schedule, '^([ \t]*(#[^\n]*)?\n)*[ \t]*', ''), E'\n', 1);
  field text[] := regexp_split_to_array(line, '[ \t]+');
  months constant text[] := '{jan,feb,mar,apr,may,jun,jul,aug,sep,oct,nov,dec}';
  days constant text[] := '{sun,mon,tue,wed,thu,fri,sat}';
begin
  if schedule ~* '^\s*\+?0*([1-9]|[1-5][0-9])\s*seconds?\s*$' then
    return true;
  end if;
  if length(schedule) >= 1000 then
    return false;
  end if;
  if line ~ '^@' then
    return field[1] in (
      '@reboot', '@restart', '@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight',
      '@hourly');
  end if;
  return coalesce(
    cardinality(field) >= 5
      and cron._is_field(field[1], 0, 59)
      and cron._is_field(field[2], 0, 23)
      and (field[3] = '$' or cron._is_field(field[3], 1, 31))
      and cron._is_field(field[4], 1, 12, months)
      and cron._is_field(field[5], 0, 7, days),
    false);
end;
$$;

create function cron._require_schedule(schedule text) returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if not cron._is_schedule(schedule) then
    raise exception 'invalid schedule: %', schedule
      using errcode = 'invalid_parameter_value',
        hint = 'Use cron format (e.g. 5 4 * * *), or interval format ''[1-59] seconds''';
  end if;
end;
$$;

-- Jobs -----------------------------------------------------------------------------------------
--
-- Nobody may write cron.job directly. The public functions run as the caller and pass its role to
-- the definer functions below, which check that the session may act as that role. The real extension
-- raises errors without a code, hence XX000.

create function cron._require_session_role(username text) returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if not pg_catalog.pg_has_role(session_user, username, 'member') then
    raise exception 'must be a member of role "%" to manage its jobs', username
      using errcode = 'insufficient_privilege';
  end if;
end;
$$;

-- `postgres` is not a superuser on a hosted project, so it is not treated as one here.
create function cron._require_superuser(username text, refusal text) returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if username = 'postgres'
    or not exists (select from pg_catalog.pg_roles where rolname = username and rolsuper)
  then
    raise exception '%', refusal using errcode = 'internal_error';
  end if;
end;
$$;

create function cron._require_database(name text) returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  if not exists (select from pg_catalog.pg_database where datname = name) then
    raise exception 'database "%" does not exist', name using errcode = 'invalid_catalog_name';
  end if;
end;
$$;

create function cron._require_value(value text, argument text) returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if value is null then
    raise exception '% can not be NULL', argument using errcode = 'internal_error';
  end if;
end;
$$;

-- An existing job of that name and role keeps its id, its database and its active flag.
create function cron._save_job(
  p_jobname text, p_schedule text, p_command text, p_database text, p_username text, p_active boolean
) returns bigint
language plpgsql
security definer -- callers have only SELECT on cron.job
set search_path = ''
as $$
declare
  saved_id bigint;
begin
  perform cron._require_session_role(p_username);
  perform cron._require_value(p_schedule, 'schedule');
  perform cron._require_value(p_command, 'command');
  perform cron._require_schedule(p_schedule);
  perform cron._require_database(p_database);
  insert into cron.job as job (jobname, schedule, command, database, username, active)
  values (p_jobname, p_schedule, p_command, p_database, p_username, p_active)
  on conflict on constraint jobname_username_uniq do update
    set schedule = excluded.schedule, command = excluded.command
  returning job.jobid into saved_id;
  return saved_id;
end;
$$;

create function cron.schedule(job_name text, schedule text, command text) returns bigint
language plpgsql
set search_path = ''
as $$
begin
  perform cron._require_value(schedule.job_name, 'job_name');
  return cron._save_job(
    schedule.job_name, schedule.schedule, schedule.command,
    current_database()::text, current_user::text, true);
end;
$$;

create function cron.schedule(schedule text, command text) returns bigint
language sql
strict
set search_path = ''
as $$
  select cron._save_job(
    null, schedule.schedule, schedule.command, current_database()::text, current_user::text, true);
$$;

create function cron.schedule_in_database(
  job_name text,
  schedule text,
  command text,
  database text,
  username text default null,
  active boolean default true
) returns bigint
language plpgsql
set search_path = ''
as $$
begin
  perform cron._require_value(schedule_in_database.job_name, 'job_name');
  if schedule_in_database.username is not null then
    perform cron._require_superuser(
      current_user::text, 'must be superuser to create a job for another role');
  end if;
  return cron._save_job(
    schedule_in_database.job_name,
    schedule_in_database.schedule,
    schedule_in_database.command,
    schedule_in_database.database,
    coalesce(schedule_in_database.username, current_user::text),
    schedule_in_database.active);
end;
$$;

create function cron._alter_job(
  p_caller text,
  p_job_id bigint,
  p_schedule text,
  p_command text,
  p_database text,
  p_username text,
  p_active boolean
) returns void
language plpgsql
security definer -- callers have only SELECT on cron.job
set search_path = ''
as $$
begin
  perform cron._require_session_role(p_caller);
  if p_username is not null then
    perform cron._require_superuser(p_caller, 'must be superuser to alter username');
  end if;
  if p_database is not null then
    perform cron._require_database(p_database);
  end if;
  if p_schedule is not null then
    perform cron._require_schedule(p_schedule);
  end if;
  if coalesce(p_schedule, p_command, p_database, p_username, p_active::text) is null then
    raise exception 'no updates specified' using errcode = 'internal_error';
  end if;
  update cron.job
  set schedule = coalesce(p_schedule, schedule),
      command = coalesce(p_command, command),
      database = coalesce(p_database, database),
      username = coalesce(p_username, username),
      active = coalesce(p_active, active)
  where jobid = p_job_id
    and (username = p_caller
      or exists (select from pg_catalog.pg_roles
        where rolname = p_caller and rolsuper and rolname <> 'postgres'));
  if not found then
    raise exception 'Job % does not exist or you don''t own it', p_job_id
      using errcode = 'internal_error';
  end if;
end;
$$;

create function cron.alter_job(
  job_id bigint,
  schedule text default null,
  command text default null,
  database text default null,
  username text default null,
  active boolean default null
) returns void
language plpgsql
set search_path = ''
as $$
begin
  perform cron._alter_job(
    current_user::text, alter_job.job_id, alter_job.schedule, alter_job.command,
    alter_job.database, alter_job.username, alter_job.active);
end;
$$;

create function cron._unschedule(p_caller text, p_job_id bigint) returns void
language plpgsql
security definer -- callers have only SELECT on cron.job
set search_path = ''
as $$
declare
  owner text := (select username from cron.job where jobid = p_job_id);
begin
  perform cron._require_session_role(p_caller);
  if owner is null then
    raise exception 'could not find valid entry for job %', p_job_id
      using errcode = 'internal_error';
  end if;
  if owner <> p_caller and not exists (
    select from pg_catalog.pg_roles where rolname = p_caller and rolsuper and rolname <> 'postgres'
  ) then
    raise exception 'permission denied for table job' using errcode = 'insufficient_privilege';
  end if;
  delete from cron.job where jobid = p_job_id;
end;
$$;

create function cron.unschedule(job_id bigint) returns boolean
language plpgsql
strict
set search_path = ''
as $$
begin
  perform cron._unschedule(current_user::text, unschedule.job_id);
  return true;
end;
$$;

create function cron.unschedule(job_name text) returns boolean
language plpgsql
strict
set search_path = ''
as $$
declare
  found_id bigint := (
    select jobid from cron.job
    where jobname = unschedule.job_name and username = current_user
  );
begin
  if found_id is null then
    raise exception 'could not find valid entry for job ''%''', unschedule.job_name
      using errcode = 'internal_error';
  end if;
  perform cron._unschedule(current_user::text, found_id);
  return true;
end;
$$;

-- Grants: nobody may write cron.job directly. `postgres` may grant the functions to others.
revoke all on function
  cron.alter_job(bigint, text, text, text, text, boolean),
  cron.schedule_in_database(text, text, text, text, text, boolean)
from public;
grant usage on schema cron to postgres with grant option;
grant execute on all functions in schema cron to postgres with grant option;
grant select on cron.job to public;
grant select, delete on cron.job_run_details to public;
