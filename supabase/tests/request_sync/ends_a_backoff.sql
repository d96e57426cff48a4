begin;
set local search_path = public, extensions;
select plan(2);

insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
select private.request_sync('one');
update public.quoth_syncs set run_after = now() + interval '1 hour', epoch = 1 where project_id = md5('project')::uuid;

select private.request_sync('one');

select is(
  (select count(*)::int from public.quoth_syncs where project_id = md5('project')::uuid and run_after is not null),
  0, 'nothing of the project waits any longer'
);
select is((select count(*)::int from public.quoth_syncs where project_id = md5('project')::uuid), 2, 'the request has its own sync');

select * from finish();
rollback;
