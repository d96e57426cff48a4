begin;
set local search_path = public, extensions;
select plan(7);

insert into public.projects (id, slug, github_repo)
values (md5('project')::uuid, 'one', 'org/one'), (md5('other')::uuid, 'two', 'org/one');
create temp table answer on commit drop as
  select 1 as place, * from private.receive_push(md5('project')::uuid, 'delivery-1', 'c1');

select is((select queued from answer), 1, 'a delivery queues a sync');
select is(
  (select array[sync_id::text, queued::text] from private.receive_push(md5('project')::uuid, 'delivery-1', 'c1')),
  (select array[sync_id::text, '0'] from answer), 'a repeated delivery queues nothing and returns that sync'
);
select is(
  (select sync_id from private.receive_push(md5('project')::uuid, 'delivery-2', 'c2')),
  (select sync_id from answer), 'a later push joins the waiting sync'
);
select is(
  (select wanted_commit from public.quoth_syncs), 'c2', 'the waiting sync gets the newest head'
);
select is((select count(*)::int from public.quoth_syncs), 1, 'there is one sync for all pushes');
select is(
  (select queued from private.receive_push(md5('other')::uuid, 'delivery-1', 'c1')), 1,
  'delivery ids are separate for each project'
);

select private.end_sync((select sync_id from answer), 'failed', '{}');
select isnt(
  (select sync_id from private.receive_push(md5('project')::uuid, 'delivery-1', 'c1') where queued = 1),
  (select sync_id from answer), 'after a failure the delivery counts again'
);

select * from finish();
rollback;
