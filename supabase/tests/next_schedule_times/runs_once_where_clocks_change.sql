begin;
set local search_path = public, extensions;
select plan(9);

create function pg_temp.after(p_cron text, p_time_zone text, p_after timestamptz, p_count int) returns text[] language sql as $$
  select array_agg(to_char(at at time zone 'utc', 'DD HH24:MI'))
  from public.next_schedule_times(p_cron, p_time_zone, p_count, p_after) as at
$$;

-- Berlin moves from 02:00 (+1) to 03:00 (+2) on 29 March 2026, at 01:00 UTC.
select is(pg_temp.after('30 2 * * *', 'Europe/Berlin', '2026-03-28 00:00Z', 3),
  array['28 01:30', '29 01:00', '30 00:30'], 'a skipped time runs at the instant of the change');
select is(pg_temp.after('*/10 2 * * *', 'Europe/Berlin', '2026-03-28 02:00Z', 2),
  array['29 01:00', '30 00:00'], 'several skipped times run once');
select is(pg_temp.after('0 2,3 * * *', 'Europe/Berlin', '2026-03-28 12:00Z', 2),
  array['29 01:00', '30 00:00'], 'a skipped time and a regular one run once together');
-- And from 03:00 (+2) back to 02:00 (+1) on 25 October 2026, at 01:00 UTC.
select is(pg_temp.after('30 2 * * *', 'Europe/Berlin', '2026-10-24 00:00Z', 3),
  array['24 00:30', '25 00:30', '26 01:30'], 'a repeated time runs once, the first time');
select is(pg_temp.after('30 2 * * *', 'Europe/Berlin', '2026-10-25 01:10Z', 1),
  array['26 01:30'], 'the same holds when the start is between the two');
select is(pg_temp.after('*/30 * * * *', 'Europe/Berlin', '2026-10-25 00:00Z', 4),
  array['25 00:30', '25 01:00', '25 01:30', '25 02:00'], 'an hourly expression follows elapsed hours');
select is(pg_temp.after('0 * * * *', 'Europe/Berlin', '2026-03-29 00:30Z', 2),
  array['29 01:00', '29 02:00'], 'it does so in spring too');
-- Cairo skips midnight; Lord Howe moves by half an hour.
select is(pg_temp.after('0 0 * * *', 'Africa/Cairo', '2026-04-22 23:00Z', 2),
  array['23 22:00', '24 21:00'], 'a day that starts at one o''clock starts with the change');
select is(pg_temp.after('15 2 * * *', 'Australia/Lord_Howe', '2026-10-02 20:00Z', 2),
  array['03 15:30', '04 15:15'], 'a change of half an hour is supported');

select * from finish();
rollback;
