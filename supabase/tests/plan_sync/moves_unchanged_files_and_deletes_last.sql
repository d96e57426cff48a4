begin;
set local search_path = public, extensions;
select plan(5);

insert into public.projects (id, slug, github_repo) values (md5('project')::uuid, 'one', 'org/one');
insert into public.documents (project_id, file_path, title, content, checksum, blob_sha)
select md5('project')::uuid, path, path, path, path, blob
from (values ('same.md', 'S'), ('old/twin.md', 'T'), ('old/other.md', 'T'), ('changed.md', 'C1'), ('gone.md', 'G')) as given (path, blob);
insert into public.quoth_file_errors (project_id, file_path, blob_sha, error)
values (md5('project')::uuid, 'known.md', 'K', '{}'), (md5('project')::uuid, 'vanished.md', 'V', '{}');
create temp table made on commit drop as select sync_id from private.receive_push(md5('project')::uuid, 'delivery-1', 'c1');
select epoch from private.claim_sync('w1', 60);
create function pg_temp.plan() returns int language sql as $$
  select private.plan_sync((select sync_id from made), (select epoch from public.quoth_syncs), 60, 'c1', '[
    {"path": "same.md", "blob_sha": "S", "size_bytes": 1}, {"path": "new/other.md", "blob_sha": "T", "size_bytes": 1},
    {"path": "new/twin.md", "blob_sha": "T", "size_bytes": 1}, {"path": "changed.md", "blob_sha": "C2", "size_bytes": 1},
    {"path": "added.md", "blob_sha": "A", "size_bytes": 1}, {"path": "known.md", "blob_sha": "K", "size_bytes": 1}
  ]', 0)
$$;

select is(pg_temp.plan(), 5, 'unchanged files and files known to fail need no work');
select is(
  (select array_agg(concat_ws(' ', action, old_path, file_path) order by seq) from private.quoth_sync_files),
  array[
    'move old/other.md new/other.md', 'move old/twin.md new/twin.md', 'write added.md', 'write changed.md', 'delete gone.md'
  ], 'moves come first, matched by file name among duplicates; deletions come last'
);
select is(pg_temp.plan(), 5, 'a repeated plan changes nothing');
select is(
  (select array[head_commit, indexed_commit] from public.projects), array['c1', null], 'the head is stored, and nothing is indexed yet'
);
select is((select array_agg(file_path) from public.quoth_file_errors), array['known.md'], 'errors of deleted files are removed');

select * from finish();
rollback;
