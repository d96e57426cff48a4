-- Local folders as the source of a project: the changes since the last run of quoth:add.

create function private.folder_changes(p_project_id uuid, p_files jsonb, p_chunker_version int)
returns table (path text, action text)
language sql
stable
set search_path = ''
as $$
  with folder as materialized (
    select file.path, file.blob_sha from jsonb_to_recordset(p_files) as file (path text, blob_sha text)
  ),
  -- Queued syncs apply their files first, so the last queued file of a path is its future content.
  queued as materialized (
    select distinct on (file.file_path) file.file_path as path, file.blob_sha
    from private.quoth_sync_files as file
    join public.quoth_syncs as sync on sync.id = file.sync_id
    where sync.project_id = folder_changes.p_project_id and sync.finished_at is null
    order by file.file_path, sync.seq desc, file.seq desc
  ),
  indexed as materialized (
    select queued.path, queued.blob_sha, p_chunker_version as chunker_version from queued
    where queued.blob_sha is not null
    union all
    select document.file_path, document.blob_sha, document.chunker_version from public.documents as document
    where document.project_id = folder_changes.p_project_id
      and not exists (select from queued where queued.path = document.file_path)
  ),
  refused as (
    select error.file_path as path from public.quoth_file_errors as error
    where error.project_id = folder_changes.p_project_id
  )
  select folder.path, 'write' from folder
  where not exists (
    select from indexed
    where indexed.path = folder.path and indexed.blob_sha = folder.blob_sha
      and indexed.chunker_version = p_chunker_version
  )
  union all
  select known.path, 'delete' from (select indexed.path from indexed union select refused.path from refused) as known
  where not exists (select from folder where folder.path = known.path);
$$;
comment on function private.folder_changes(uuid, jsonb, int) is
  'The writes and deletions that make a project''s documents equal the files [{path, blob_sha}] of a folder. Files that could not be indexed before are written again. The caller holds the project. Called by quoth:add.';
