begin;
set local search_path = public, extensions;
select plan(14);

create function pg_temp.next(p_cron text, p_after text, p_time_zone text default 'UTC') returns text language sql as $$
  select to_char(private.next_cron_time(p_cron, p_time_zone, p_after::timestamptz) at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS')
$$;

select is(pg_temp.next('* * * * *', '2026-01-01 00:00:00Z'), '2026-01-01 00:01:00', 'never the time itself');
select is(pg_temp.next('* * * * *', '2026-01-01 00:00:59.9Z'), '2026-01-01 00:01:00', 'the next whole minute');
select is(pg_temp.next('*/15 * * * *', '2026-01-01 23:46Z'), '2026-01-02 00:00:00', 'steps go on in the next hour');
select is(pg_temp.next('5/20 8-9 * * *', '2026-01-01 08:46Z'), '2026-01-01 09:05:00', 'a step from a number on');
select is(pg_temp.next('30 7 * * mon-fri', '2026-01-02 07:30Z'), '2026-01-05 07:30:00', 'weekdays by name');
select is(pg_temp.next('0 9 * * 7', '2026-01-01Z'), '2026-01-04 09:00:00', 'Sunday is 7 as well as 0');
select is(pg_temp.next('0 9 * * fri-sun', '2026-01-03 10:00Z'), '2026-01-04 09:00:00', 'and may end a range');
select is(pg_temp.next('0 9 13 * fri', '2026-02-01Z'), '2026-02-06 09:00:00', 'a day or a weekday where both are restricted');
select is(pg_temp.next('0 0 29 feb *', '2097-01-01Z'), '2104-02-29 00:00:00', 'a leap day, across a year without one');
select is(pg_temp.next('0 0 31 * *', '2026-04-01Z'), '2026-05-31 00:00:00', 'months without the day are passed over');
select is(pg_temp.next('@monthly', '2026-01-31Z'), '2026-02-01 00:00:00', 'a name for an expression');
select is(pg_temp.next('0 9 * * *', '2026-07-01Z', 'America/New_York'), '2026-07-01 13:00:00', 'local time in summer');
select is(pg_temp.next('0 9 * * *', '2026-12-01Z', 'America/New_York'), '2026-12-01 14:00:00', 'local time in winter');
select is(pg_temp.next('30 5 * * *', '2026-01-01Z', 'Asia/Kathmandu'), '2026-01-01 23:45:00', 'an offset of quarters of an hour');

select * from finish();
rollback;
