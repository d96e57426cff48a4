begin;
set local search_path = public, extensions;
select plan(6);

create temp table source on commit drop as select tests.create_task() as id;
update public.tasks set storage_paths = array[id || '/' || id || '/report.md'];
create temp table file on commit drop as select storage_paths[1] as path from public.tasks;
grant select on source, file to authenticated;
select private.finish_task(id, tests.claim(id), '{}') from source;
select tests.create_user('stranger');

select tests.act_as_user('owner');
select ok(private.is_own_job_file((select path from file)), 'files of the caller''s job are the caller''s');
select ok(private.is_own_job_file((select id || '/any' from source)), 'every file in the job''s folder is the caller''s');
create temp table fork on commit drop as select public.fork_task((select id from source), 1) as id;
select tests.act_as_nobody();
delete from public.tasks where id = (select id from source);

select tests.act_as_user('owner');
select ok(private.is_own_job_file((select path from file)), 'the owner of a fork keeps the files of a deleted job');
select ok(not private.is_own_job_file((select id || '/any' from source)), 'other files of the deleted job are not');
select tests.act_as_user('stranger');
select ok(not private.is_own_job_file((select path from file)), 'a stranger has no access to them');
select ok(not private.is_own_job_file('no-job/report.md'), 'a path without a job belongs to nobody');
select tests.act_as_nobody();

select * from finish();
rollback;
