begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_task() as id from generate_series(1, 3);
update public.tasks set storage_paths = array[id || '/f', 'shared'] where id in (select id from made);
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 3, 30);
select private.finish_task(task_id, epoch, '{}') from claimed where task_id <> (select id from made limit 1);
update public.tasks set finished_at = now() - interval '8 days' where status = 'completed';

select is(private.delete_old_jobs(10), 0, 'by default jobs are kept for ten days');
update public.tasks set is_kept = true where status = 'completed';
insert into private.settings (key, value) values ('keep_jobs_days', '7');
select is(private.delete_old_jobs(10), 0, 'a job that its owner keeps is never deleted');
update public.tasks set is_kept = false;
select is(private.delete_old_jobs(1), 1, 'no more than the requested number is deleted');
select is(private.delete_old_jobs(10), 1, 'then the rest is deleted');
select is((select count(*) from public.tasks)::int, 1, 'running jobs are kept');
select is((select count(*) from public.task_events where task_id not in (select id from public.tasks))::int, 0, 'nothing else remains of the deleted jobs');
select is((select count(*) from private.deleted_files where path like '%/f')::int, 2, 'their files are listed for removal');
select is((select count(*) from private.deleted_files where path = 'shared')::int, 0, 'a file that another job refers to is kept');

select * from finish();
rollback;
