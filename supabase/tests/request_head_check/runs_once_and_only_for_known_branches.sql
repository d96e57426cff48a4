begin;
set local search_path = public, extensions;
select plan(5);

insert into public.projects (id, slug, github_repo, head_commit, head_checked_at)
values (md5('stale')::uuid, 'stale', 'org/one', 'c1', now() - interval '11 minutes'),
  (md5('fresh')::uuid, 'fresh', 'org/one', 'c1', now() - interval '9 minutes'),
  (md5('files')::uuid, 'files', 'org/one', null, null);

select ok(private.request_head_check(md5('stale')::uuid), 'a branch that was not checked for ten minutes is requested');
select ok(not private.request_head_check(md5('stale')::uuid), 'it is requested only once');
select ok(not private.request_head_check(md5('fresh')::uuid), 'a branch that was checked recently is not requested');
select ok(not private.request_head_check(md5('files')::uuid), 'a branch that may not exist is not requested');
select is((select array_agg(reason) from public.quoth_syncs), array['head_check'], 'there is one sync');

select * from finish();
rollback;
