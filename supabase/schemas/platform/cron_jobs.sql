-- Cron jobs.

select cron.schedule('supaswarm-tick', '15 seconds', 'select private.tick()');

-- Creates partitions weeks and months ahead, so that rows have a partition even when many calls fail.
select cron.schedule('supaswarm-partitions', '7 * * * *', 'select private.make_partitions()');

-- A day is due from a quarter past midnight UTC; in the other hours there is nothing to do.
select cron.schedule('supaswarm-export', '20 * * * *', 'select private.wake_export()');

-- pg_cron keeps a row of every run; a run every 15 seconds adds 5,760 rows a day. The runs of a project's other
-- jobs are not the platform's to delete.
select cron.schedule('supaswarm-delete-cron-runs', '17 3 * * *',
  'delete from cron.job_run_details where start_time < now() - interval ''1 day'' '
  'and jobid in (select jobid from cron.job where starts_with(jobname, ''supaswarm-''))');
