begin;
set local search_path = public, extensions;
select plan(1);

select set_eq(
  $$select jobname, schedule, command from cron.job where active$$,
  $$values
    ('supaswarm-tick', '15 seconds', 'select private.tick()'),
    ('supaswarm-row-starts', '15 seconds', 'select private.start_row_jobs()'),
    ('supaswarm-schedules', '15 seconds', 'select private.run_due_schedules()'),
    ('supaswarm-partitions', '7 * * * *', 'select private.make_partitions()'),
    ('supaswarm-drop-partitions', '37 * * * *', 'select private.drop_old_partitions()'),
    ('supaswarm-export', '20 * * * *', 'select private.wake_export()'),
    ('supaswarm-delete-webhook-messages', '27 * * * *', 'select private.delete_old_webhook_messages()'),
    ('supaswarm-delete-old', '* * * * *', 'select private.delete_old()'),
    ('supaswarm-delete-auth-events', '47 * * * *', 'select private.delete_old_auth_events(10000)'),
    ('supaswarm-delete-cron-runs', '17 3 * * *',
      'delete from cron.job_run_details where start_time < now() - interval ''1 day'' '
      'and jobid in (select jobid from cron.job where starts_with(jobname, ''supaswarm-''))'),
    ('supaswarm-quoth-tick', '15 seconds', 'select private.quoth_tick()'),
    ('supaswarm-delete-syncs', '43 3 * * *', 'select private.delete_old_syncs()'),
    ('supaswarm-quoth-finish-switches', '* * * * *', 'select private.finish_switches()')$$,
  'cron runs every maintenance job, including retention'
);

select * from finish();
rollback;
