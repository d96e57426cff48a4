begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_user('owner'), tests.create_user('stranger');
insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
insert into public.project_members (project_id, user_id) values (md5('project')::uuid, tests.user_id('owner'));
select private.request_sync('one');
insert into public.quoth_file_errors (project_id, file_path, error) values (md5('project')::uuid, 'a.md', '{}');

select tests.act_as_user('owner');
select is((select count(*)::int from public.quoth_syncs), 1, 'a member sees the sync');
select is((select count(*)::int from public.quoth_file_errors), 1, 'a member sees which files could not be indexed');
select tests.act_as_user('stranger');
select is((select count(*)::int from public.quoth_syncs), 0, 'a stranger sees no sync');
select is((select count(*)::int from public.quoth_file_errors), 0, 'a stranger sees no file errors');

select * from finish();
rollback;
