begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_user('owner'), tests.create_user('stranger');
insert into public.projects (id, slug, github_repo, head_commit) values (md5('project')::uuid, 'one', 'org/one', 'c1');
insert into public.project_members (project_id, user_id) values (md5('project')::uuid, tests.user_id('owner'));

select tests.act_as_user('stranger');
select is(
  tests.code_of($$ select private.check_head(md5('project')::uuid) $$), 'PROJECT_NOT_FOUND', 'a stranger requests nothing'
);
select tests.act_as_user('owner');
select ok(private.check_head(md5('project')::uuid), 'a member''s search requests a check of the branch');
select ok(not private.check_head(md5('project')::uuid), 'the next search requests nothing');

select * from finish();
rollback;
