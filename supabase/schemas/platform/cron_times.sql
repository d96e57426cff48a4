-- Cron expressions in a time zone: when a user's schedule runs next. These functions read no table.

create type private.cron_fields as (
  minutes int[],
  hours int[],
  days int[],
  months int[],
  weekdays int[],
  is_either_day boolean,
  is_hourly boolean
);
comment on type private.cron_fields is
  'The parsed fields of a cron expression. is_either_day: both day fields are restricted, so a date matches by either of them, as usual in cron. is_hourly: the expression names every hour.';

create function private.raise_cron_invalid(p_cron text, p_problem text)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  perform private.raise_error('SCHEDULE_CRON_INVALID',
    format('Cannot read the cron expression %L: %s', left(p_cron, 100), p_problem),
    'Write minute (0-59), hour (0-23), day of the month (1-31), month (1-12 or jan-dec) and day of the week (0-7 or sun-sat), such as "30 7 * * mon-fri".');
end;
$$;
comment on function private.raise_cron_invalid(text, text) is 'Raises SCHEDULE_CRON_INVALID with the problem.';

create function private.cron_number(p_text text, p_min int, p_names text[])
returns int
language plpgsql
immutable
set search_path = ''
as $$
begin
  if p_text ~ '^[0-9]{1,2}$' then
    return p_text::int;
  end if;
  return array_position(p_names, lower(p_text)) - 1 + p_min;
end;
$$;
comment on function private.cron_number(text, int, text[]) is
  'The number that a part of a cron field names, by digits or by a name (the first name is p_min); null for anything else.';

create function private.cron_field(
  p_cron text, p_label text, p_text text, p_min int, p_max int, p_names text[] default '{}'
)
returns int[]
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_part text;
  v_match text[];
  v_from int;
  v_to int;
  v_step int;
  v_numbers int[] := '{}'::int[];
begin
  foreach v_part in array string_to_array(p_text, ',') loop
    v_match := regexp_match(v_part, '^(\*|[a-zA-Z0-9]+)(?:-([a-zA-Z0-9]+))?(?:/([0-9]{1,2}))?$');
    v_step := coalesce(v_match[3]::int, 1);
    if v_match[1] = '*' then
      v_from := case when v_match[2] is null then p_min end;
      v_to := p_max;
    else
      v_from := private.cron_number(v_match[1], p_min, p_names);
      v_to := case
        when v_match[2] is not null then private.cron_number(v_match[2], p_min, p_names)
        when v_match[3] is not null then p_max
        else v_from
      end;
      -- Sunday is both 0 and 7. At the end of a range such as fri-sun it is 7.
      if p_max = 7 and v_to = 0 and v_from > 0 then
        v_to := 7;
      end if;
    end if;
    if not coalesce(v_from between p_min and p_max and v_to between v_from and p_max and v_step > 0, false) then
      perform private.raise_cron_invalid(p_cron, format('its %s %L is invalid', p_label, left(p_text, 50)));
    end if;
    v_numbers := v_numbers || array(select generate_series(v_from, v_to, v_step));
  end loop;
  if p_max = 7 then
    v_numbers := array(select number % 7 from unnest(v_numbers) as number);
  end if;
  return array(select distinct number from unnest(v_numbers) as number order by number);
end;
$$;
comment on function private.cron_field(text, text, text, int, int, text[]) is
  'The numbers that one field of a cron expression allows, in order: lists, ranges, steps and names. Raises SCHEDULE_CRON_INVALID.';

create function private.parse_cron(p_cron text)
returns private.cron_fields
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_text constant text := coalesce(case lower(btrim(p_cron))
    when '@hourly' then '0 * * * *'
    when '@daily' then '0 0 * * *'
    when '@midnight' then '0 0 * * *'
    when '@weekly' then '0 0 * * 0'
    when '@monthly' then '0 0 1 * *'
    when '@yearly' then '0 0 1 1 *'
    when '@annually' then '0 0 1 1 *'
    else btrim(p_cron)
  end, '');
  v_fields constant text[] := regexp_split_to_array(v_text, '\s+');
  v_parsed private.cron_fields;
begin
  if length(v_text) > 200 then
    perform private.raise_cron_invalid(p_cron, 'it is longer than 200 characters');
  end if;
  if cardinality(v_fields) <> 5 or v_text = '' then
    perform private.raise_cron_invalid(p_cron, format('it has %s fields, not 5%s',
      case when v_text = '' then 0 else cardinality(v_fields) end,
      case when cardinality(v_fields) = 6 then '; a schedule runs at most once a minute and has no seconds' else '' end));
  end if;
  v_parsed.minutes := private.cron_field(p_cron, 'minute', v_fields[1], 0, 59);
  v_parsed.hours := private.cron_field(p_cron, 'hour', v_fields[2], 0, 23);
  v_parsed.days := private.cron_field(p_cron, 'day of the month', v_fields[3], 1, 31);
  v_parsed.months := private.cron_field(p_cron, 'month', v_fields[4], 1, 12,
    array['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']);
  v_parsed.weekdays := private.cron_field(p_cron, 'day of the week', v_fields[5], 0, 7,
    array['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat']);
  v_parsed.is_either_day := v_fields[3] !~ '^\*' and v_fields[5] !~ '^\*';
  v_parsed.is_hourly := cardinality(v_parsed.hours) = 24;
  return v_parsed;
end;
$$;
comment on function private.parse_cron(text) is
  'Reads a cron expression of five fields, or @hourly, @daily, @weekly, @monthly, @yearly. Raises SCHEDULE_CRON_INVALID.';

create function private.assert_time_zone(p_time_zone text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  -- Postgres also accepts abbreviations and POSIX rules ("FOO+3"), which have no daylight saving time.
  if p_time_zone ~ '^(UTC|GMT|Etc/GMT[+-]1?[0-9]|(?!posix/|right/)[A-Za-z_]+(/[A-Za-z_-]+){1,2})$' then
    perform clock_timestamp() at time zone p_time_zone;
    return;
  end if;
  raise invalid_parameter_value;
exception when invalid_parameter_value then
  perform private.raise_error('SCHEDULE_ZONE_INVALID',
    format('Cannot use the time zone %L: the time zone database has no such name', left(p_time_zone, 100)),
    private.did_you_mean(left(p_time_zone, 100), array(
      select zone.name from pg_catalog.pg_timezone_names as zone where zone.name ~ '^[A-Z][a-z]+/'
    )) || 'Use UTC or a name such as Europe/Berlin or America/New_York.');
end;
$$;
comment on function private.assert_time_zone(text) is
  'Raises SCHEDULE_ZONE_INVALID unless the name is UTC, GMT or Area/Location in the time zone database.';

create function private.offset_at(p_at timestamptz, p_time_zone text)
returns interval
language plpgsql
stable
set search_path = ''
as $$
begin
  return (p_at at time zone p_time_zone) - (p_at at time zone 'utc');
end;
$$;
comment on function private.offset_at(timestamptz, text) is 'How far the local time of a zone is ahead of UTC at an instant.';

create function private.instant_of(p_local timestamp, p_time_zone text)
returns timestamptz
language plpgsql
stable
set search_path = ''
as $$
declare
  -- When two instants have this local time, Postgres returns the later one.
  v_late constant timestamptz := p_local at time zone p_time_zone;
  v_offset_before constant interval := private.offset_at(v_late - interval '1 day', p_time_zone);
  v_early constant timestamptz := (p_local - v_offset_before) at time zone 'utc';
  v_before bigint;
  v_after bigint;
  v_middle bigint;
begin
  if v_early at time zone p_time_zone = p_local then
    return v_early;
  end if;
  if v_late at time zone p_time_zone = p_local then
    return v_late;
  end if;
  -- Clocks skip this time. Search the day before it for the change, to the second.
  v_after := extract(epoch from v_early)::bigint;
  v_before := v_after - 86400;
  while v_after - v_before > 1 loop
    v_middle := (v_before + v_after) / 2;
    if private.offset_at(to_timestamp(v_middle), p_time_zone) = v_offset_before then
      v_before := v_middle;
    else
      v_after := v_middle;
    end if;
  end loop;
  return to_timestamp(v_after);
end;
$$;
comment on function private.instant_of(timestamp, text) is
  'The instant at which clocks of a zone show a local time: the first of two instants for a repeated time, and the instant of the change for a skipped time.';

create function private.is_cron_date(p_fields private.cron_fields, p_date date)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_is_day constant boolean := extract(day from p_date)::int = any (p_fields.days);
  v_is_weekday constant boolean := extract(dow from p_date)::int = any (p_fields.weekdays);
begin
  return extract(month from p_date)::int = any (p_fields.months)
    and case when p_fields.is_either_day then v_is_day or v_is_weekday else v_is_day and v_is_weekday end;
end;
$$;
comment on function private.is_cron_date(private.cron_fields, date) is 'True when a cron expression allows the date.';

create function private.next_cron_date(p_fields private.cron_fields, p_from date)
returns date
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_date date := p_from;
  -- Two leap days are at most eight years apart.
  v_last constant date := p_from + 366 * 8 + 31;
begin
  while v_date <= v_last loop
    if private.is_cron_date(p_fields, v_date) then
      return v_date;
    end if;
    v_date := case
      when extract(month from v_date)::int = any (p_fields.months) then v_date + 1
      else (date_trunc('month', v_date::timestamp) + interval '1 month')::date
    end;
  end loop;
  return null;
end;
$$;
comment on function private.next_cron_date(private.cron_fields, date) is
  'The first date from p_from on that a cron expression allows; null when there is none, as for 30 February.';

create function private.next_elapsed_cron_time(p_fields private.cron_fields, p_time_zone text, p_after timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = ''
as $$
declare
  v_at timestamptz := to_timestamp((floor(extract(epoch from p_after) / 60) + 1) * 60);
  v_local timestamp;
  v_minute int;
  v_date date;
begin
  loop
    v_local := v_at at time zone p_time_zone;
    v_date := private.next_cron_date(p_fields, v_local::date);
    exit when v_date is null;
    if v_date > v_local::date then
      v_at := greatest(private.instant_of(v_date::timestamp, p_time_zone), v_at + interval '1 minute');
      continue;
    end if;
    v_minute := extract(minute from v_local)::int;
    if v_minute = any (p_fields.minutes) then
      return v_at;
    end if;
    v_at := v_at + make_interval(mins => coalesce(
      (select min(minute) from unnest(p_fields.minutes) as minute where minute > v_minute), 60) - v_minute);
  end loop;
  return null;
end;
$$;
comment on function private.next_elapsed_cron_time(private.cron_fields, text, timestamptz) is
  'next_cron_time() for an expression that names every hour: it follows elapsed hours, including an hour that clocks repeat.';

create function private.next_named_cron_time(p_fields private.cron_fields, p_time_zone text, p_after timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = ''
as $$
declare
  v_after_local constant timestamp := p_after at time zone p_time_zone;
  v_date date := private.next_cron_date(p_fields, v_after_local::date - 1);
  v_hour int;
  v_minute int;
  v_at timestamptz;
begin
  while v_date is not null loop
    foreach v_hour in array p_fields.hours loop
      -- Certainly past, even if the clocks changed in between.
      continue when v_date + make_interval(hours => v_hour + 4) < v_after_local;
      foreach v_minute in array p_fields.minutes loop
        v_at := private.instant_of(v_date + make_interval(hours => v_hour, mins => v_minute), p_time_zone);
        if v_at > p_after then
          return v_at;
        end if;
      end loop;
    end loop;
    v_date := private.next_cron_date(p_fields, v_date + 1);
  end loop;
  return null;
end;
$$;
comment on function private.next_named_cron_time(private.cron_fields, text, timestamptz) is
  'next_cron_time() for an expression that names hours: each local time counts once, and a skipped time counts at the instant of the change.';

create function private.next_cron_time(p_cron text, p_time_zone text, p_after timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = ''
as $$
declare
  v_fields constant private.cron_fields := private.parse_cron(p_cron);
  v_next constant timestamptz := case
    when v_fields.is_hourly then private.next_elapsed_cron_time(v_fields, p_time_zone, p_after)
    else private.next_named_cron_time(v_fields, p_time_zone, p_after)
  end;
begin
  if v_next is null then
    perform private.raise_cron_invalid(p_cron, 'no date matches it');
  end if;
  return v_next;
end;
$$;
comment on function private.next_cron_time(text, text, timestamptz) is
  'The first time after p_after that a cron expression names in a time zone. A local time that clocks skip counts at the instant of the change; of a local time that clocks repeat, the first instant counts. An expression for every hour follows elapsed hours. Raises SCHEDULE_CRON_INVALID. The caller has called assert_time_zone().';

create function private.next_schedule_times(p_cron text, p_time_zone text, p_count int, p_after timestamptz)
returns setof timestamptz
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_at timestamptz := coalesce(p_after, clock_timestamp());
begin
  if v_at not between '1970-01-01' and '2200-01-01' then
    perform private.raise_error('QUERY_INVALID',
      format('Cannot list the next times after %s: it is not between 1970 and 2200', v_at),
      'Omit p_after to start now.');
  end if;
  perform private.assert_time_zone(p_time_zone);
  for v_place in 1 .. least(greatest(p_count, 1), 100) loop
    v_at := private.next_cron_time(p_cron, p_time_zone, v_at);
    return next v_at;
  end loop;
end;
$$;
comment on function private.next_schedule_times(text, text, int, timestamptz) is
  'See public.next_schedule_times(). Definer: users may not execute the functions that it calls; it reads no table.';

create function public.next_schedule_times(
  p_cron text, p_time_zone text default 'UTC', p_count int default 5, p_after timestamptz default null
)
returns setof timestamptz
language sql
stable
set search_path = ''
as $$
  select * from private.next_schedule_times(p_cron, p_time_zone, p_count, p_after);
$$;
comment on function public.next_schedule_times(text, text, int, timestamptz) is
  'The next times (5 by default, at most 100) that a cron expression names in a time zone, after p_after (null: now), for a preview before a schedule is saved. For signed-in users and the service. Raises SCHEDULE_CRON_INVALID, SCHEDULE_ZONE_INVALID, QUERY_INVALID.';
revoke all on function public.next_schedule_times(text, text, int, timestamptz) from public, anon, authenticated, service_role;
grant execute on function
  private.next_schedule_times(text, text, int, timestamptz),
  public.next_schedule_times(text, text, int, timestamptz)
  to authenticated, service_role;
