begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as own, tests.create_task(null, 'other') as others;
update public.tasks set storage_paths = array[id || '/report.md', 'shared.md'] where id = (select own from made);
update public.tasks set storage_paths = array[id || '/report.md', 'shared.md'] where id = (select others from made);
insert into storage.objects (bucket_id, name, metadata)
select 'supaswarm-data', tests.user_id(name) || '/notes/a.md', '{"size": 1}' from unnest(array['owner', 'other']) as name;

delete from auth.users where id = tests.user_id('owner');
select is((select count(*) from public.tasks)::int, 1, 'the jobs of the user are deleted');
select ok(exists (select from private.deleted_files where path = (select own from made) || '/report.md'), 'their files are listed for removal');
select ok(exists (select from private.deleted_files where path = tests.user_id('owner') || '/notes/a.md'), 'so are the uploads of the user');
select is((select count(*) from private.deleted_files)::int, 2, 'the files of others, and those to which they refer, are kept');

select * from finish();
rollback;
