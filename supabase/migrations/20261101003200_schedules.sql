-- What runs by the clock.

select cron.schedule('supaswarm-tick', '15 seconds', 'select private.tick()');

-- A day is due from a quarter past midnight, UTC; the other hours find nothing to do.
-- Weeks and months ahead, so that many calls may fail before a row finds no partition of its time.
select cron.schedule('supaswarm-partitions', '7 * * * *', 'select private.make_partitions()');

select cron.schedule('supaswarm-export', '20 * * * *', 'select private.wake_export()');

-- pg_cron keeps every run for ever; a run each 15 seconds is 5,760 rows a day.
select cron.schedule('supaswarm-prune-cron-runs', '17 3 * * *',
  'delete from cron.job_run_details where end_time < now() - interval ''1 day''');
