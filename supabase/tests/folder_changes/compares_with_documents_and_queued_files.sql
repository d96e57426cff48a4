begin;
set local search_path = public, extensions;
select plan(1);

insert into public.projects (id, slug) values (md5('project')::uuid, 'one');
insert into public.documents (project_id, file_path, title, content, checksum, blob_sha, chunker_version)
select md5('project')::uuid, path, path, '', '', sha, version
from (values ('same.md', 'a', 1), ('changed.md', 'b', 1), ('old.md', 'c', 0), ('gone.md', 'd', 1), ('queued-away.md', 'e', 1))
  as stored (path, sha, version);
insert into public.quoth_file_errors (project_id, file_path, error) values
  (md5('project')::uuid, 'refused-and-gone.md', '{"code": "FILE_UNREADABLE"}');
select private.receive_files('one', '[
  {"path": "queued.md", "blob_sha": "f", "content": "text"}, {"path": "queued-away.md"}
]');

select results_eq(
  $$
    select path, action from private.folder_changes(md5('project')::uuid, '[
      {"path": "same.md", "blob_sha": "a"}, {"path": "changed.md", "blob_sha": "other"},
      {"path": "old.md", "blob_sha": "c"}, {"path": "queued.md", "blob_sha": "f"}, {"path": "new.md", "blob_sha": "g"}
    ]', 1) order by path collate "C"
  $$,
  $$ values ('changed.md', 'write'), ('gone.md', 'delete'), ('new.md', 'write'), ('old.md', 'write'),
    ('refused-and-gone.md', 'delete') $$,
  'new, changed or outdated files are written; files missing from the folder are deleted'
);

select * from finish();
rollback;
