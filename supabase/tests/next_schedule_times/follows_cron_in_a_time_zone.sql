begin;
set local search_path = public, extensions;
select plan(14);

create function pg_temp.next(p_cron text, p_after text, p_time_zone text default 'UTC') returns text language sql as $$
  select to_char(private.next_cron_time(p_cron, p_time_zone, p_after::timestamptz) at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS')
$$;

select is(pg_temp.next('* * * * *', '2026-01-01 00:00:00Z'), '2026-01-01 00:01:00', 'the next time is never the given time');
select is(pg_temp.next('* * * * *', '2026-01-01 00:00:59.9Z'), '2026-01-01 00:01:00', 'seconds are rounded up to the next minute');
select is(pg_temp.next('*/15 * * * *', '2026-01-01 23:46Z'), '2026-01-02 00:00:00', 'steps continue in the next hour');
select is(pg_temp.next('5/20 8-9 * * *', '2026-01-01 08:46Z'), '2026-01-01 09:05:00', 'a step can start at a number');
select is(pg_temp.next('30 7 * * mon-fri', '2026-01-02 07:30Z'), '2026-01-05 07:30:00', 'weekdays can be named');
select is(pg_temp.next('0 9 * * 7', '2026-01-01Z'), '2026-01-04 09:00:00', 'Sunday is 0 or 7');
select is(pg_temp.next('0 9 * * fri-sun', '2026-01-03 10:00Z'), '2026-01-04 09:00:00', 'Sunday can end a range');
select is(pg_temp.next('0 9 13 * fri', '2026-02-01Z'), '2026-02-06 09:00:00', 'with both restricted, either a day or a weekday matches');
select is(pg_temp.next('0 0 29 feb *', '2097-01-01Z'), '2104-02-29 00:00:00', 'a leap day is found across a year without one');
select is(pg_temp.next('0 0 31 * *', '2026-04-01Z'), '2026-05-31 00:00:00', 'months without the day are skipped');
select is(pg_temp.next('@monthly', '2026-01-31Z'), '2026-02-01 00:00:00', 'a named expression works');
select is(pg_temp.next('0 9 * * *', '2026-07-01Z', 'America/New_York'), '2026-07-01 13:00:00', 'local time is respected in summer');
select is(pg_temp.next('0 9 * * *', '2026-12-01Z', 'America/New_York'), '2026-12-01 14:00:00', 'local time is respected in winter');
select is(pg_temp.next('30 5 * * *', '2026-01-01Z', 'Asia/Kathmandu'), '2026-01-01 23:45:00', 'offsets of quarter hours work');

select * from finish();
rollback;
