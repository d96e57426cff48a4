begin;
set local search_path = public, extensions;
select plan(5);

-- A written row has another place.
create temporary table noted as select ctid as place from cron.job where false;
create function pg_temp.writes_after_start() returns boolean language sql as $$
  delete from pg_temp.noted;
  insert into pg_temp.noted select ctid from cron.job where jobname = 'supaswarm-tick';
  select private.configure_project_url('http://127.0.0.1:1');
  select noted.place <> job.ctid from pg_temp.noted, cron.job where job.jobname = 'supaswarm-tick';
$$;
delete from private.settings where key = 'cron_loaded_for';

update private.releases set installed_at = clock_timestamp();
select ok(not pg_temp.writes_after_start(), 'not while pg_cron may still take notice of the release');

update private.releases set installed_at = clock_timestamp() - interval '1 minute';
select cron.alter_job(jobid, active => false) from cron.job where jobname = 'supaswarm-tick';
select ok(pg_temp.writes_after_start(), 'the first function that starts afterwards does it');
select is((select active from cron.job where jobname = 'supaswarm-tick'), false, 'a job that somebody stopped remains stopped');

select ok(not pg_temp.writes_after_start(), 'later functions do not repeat it');

insert into private.releases (version, installed_at) values ('99.0.0', clock_timestamp() - interval '11 seconds');
select ok(pg_temp.writes_after_start(), 'the next release needs it again');

select * from finish();
rollback;
