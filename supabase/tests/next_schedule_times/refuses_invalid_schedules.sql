begin;
set local search_path = public, extensions;
select plan(3);

select is_empty(
  $$select cron
    from unnest(array['', '* * * *', '* * * * * *', '60 * * * *', '* 24 * * *', '* * 0 * *', '* * * 13 *', '* * * * 8',
      '5-1 * * * *', '*/0 * * * *', '*-5 * * * *', 'x * * * *', '1,,2 * * * *', '-1 * * * *', '1.5 * * * *', '@reboot',
      '0 0 * foo *', '* * * mon *', '0 0 30 2 *', '0 0 31 4,6,9,11 *', '1;2 * * * *', repeat('1,', 150) || '1 * * * *']) as cron
    where tests.code_of(format('select public.next_schedule_times(%L)', cron)) <> 'SCHEDULE_CRON_INVALID'$$,
  'malformed expressions and expressions that match no date are refused'
);
select is_empty(
  $$select zone
    from unnest(array['', 'Berlin', 'Europe/Berln', 'CEST', 'UTC+3', 'FOO+3', 'Mars/Base+3', 'posix/UTC', 'Etc/GMT+99', '../etc/passwd', '+02:00']) as zone
    where tests.code_of(format('select public.next_schedule_times(''* * * * *'', %L)', zone)) <> 'SCHEDULE_ZONE_INVALID'$$,
  'unknown time zones are refused'
);
select throws_like($$select public.next_schedule_times('0 0 * * * *')$$, '%it has 6 fields, not 5; a schedule%no seconds%',
  'the message explains the error');

select * from finish();
rollback;
