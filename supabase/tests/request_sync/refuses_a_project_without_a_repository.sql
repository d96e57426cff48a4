begin;
set local search_path = public, extensions;
select plan(2);

insert into public.projects (id, slug) values (md5('project')::uuid, 'one');

select throws_ok(
  $$ select private.request_sync('one') $$,
  'PT409', 'Cannot compare project ''one'' with its branch: it has no repository'
);
select is((select count(*)::int from public.quoth_syncs), 0, 'nothing is queued');

select * from finish();
rollback;
