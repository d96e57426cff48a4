-- Comparing a tree with the stored documents, and applying the difference file by file.

create function private.file_name(p_path text)
returns text
language sql
immutable
set search_path = ''
as $$
  select regexp_replace(file_name.p_path, '^.*/', '');
$$;
comment on function private.file_name(text) is 'The last part of a path.';

create function private.plan_sync(
  p_sync_id uuid, p_epoch bigint, p_lease_seconds int, p_commit text, p_files jsonb,
  p_chunker_version int, p_github_url text default null
)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_project_id uuid := (select project_id from public.quoth_syncs where id = p_sync_id);
  v_sync public.quoth_syncs;
  v_count int;
begin
  perform private.hold_project(v_project_id);
  v_sync := private.hold_sync(p_sync_id, p_epoch, p_lease_seconds);
  if v_sync.commit_sha is not null then
    return (select count(*) from private.quoth_sync_files where sync_id = v_sync.id);
  end if;

  with tree as materialized (
    select file.path, file.blob_sha, file.size_bytes
    from jsonb_to_recordset(p_files) as file (path text, blob_sha text, size_bytes bigint)
  ),
  stored as materialized (
    select file_path as path, blob_sha, chunker_version from public.documents where project_id = v_sync.project_id
  ),
  vanished as (
    select stored.path, stored.blob_sha,
      row_number() over (partition by stored.blob_sha order by private.file_name(stored.path), stored.path) as place
    from stored
    where not exists (select from tree where tree.path = stored.path)
  ),
  appeared as (
    select tree.path, tree.blob_sha, tree.size_bytes,
      row_number() over (partition by tree.blob_sha order by private.file_name(tree.path), tree.path) as place
    from tree
    where not exists (select from stored where stored.path = tree.path)
      -- A file whose content cannot be indexed will fail again, so no document is moved there.
      and (v_sync.reason = 'request' or not exists (
        select from public.quoth_file_errors as known
        where known.project_id = v_sync.project_id and known.file_path = tree.path and known.blob_sha = tree.blob_sha
          and known.error ->> 'code' is distinct from 'FILE_UNAVAILABLE'
      ))
  ),
  work as (
    select case when vanished.path is null then 2 else 1 end as turn,
      appeared.path, vanished.path as old_path, appeared.blob_sha, appeared.size_bytes
    from appeared
    left join vanished using (blob_sha, place)
    union all
    select 3, tree.path, null, tree.blob_sha, tree.size_bytes
    from tree
    join stored using (path)
    where stored.blob_sha is distinct from tree.blob_sha or stored.chunker_version <> p_chunker_version
    union all
    select 4, vanished.path, null, null, null
    from vanished
    where not exists (
      select from appeared where appeared.blob_sha = vanished.blob_sha and appeared.place = vanished.place
    )
  )
  insert into private.quoth_sync_files (sync_id, seq, action, file_path, old_path, blob_sha, size_bytes)
  select v_sync.id, row_number() over (order by work.turn, work.path),
    case work.turn when 1 then 'move' when 4 then 'delete' else 'write' end,
    work.path, work.old_path, work.blob_sha, work.size_bytes
  from work;
  get diagnostics v_count = row_count;

  delete from public.quoth_file_errors as known
  where known.project_id = v_sync.project_id
    and not exists (
      select from jsonb_to_recordset(p_files) as file (path text) where file.path = known.file_path
    );
  update public.quoth_syncs set commit_sha = p_commit, deliveries = 0 where id = v_sync.id;
  update public.projects
  set head_commit = p_commit, head_checked_at = clock_timestamp(), github_url = coalesce(p_github_url, github_url)
  where id = v_sync.project_id;
  return v_count;
end;
$$;
comment on function private.plan_sync(uuid, bigint, int, text, jsonb, int, text) is
  'Compares the files [{path, blob_sha, size_bytes}] of a commit with the documents and lists the work: files with unchanged content move, documents of another splitter version are written again, and deletions come last. Returns the number of files; a repeated call changes nothing. Called by quoth-sync.';

create function private.begin_sync_files(
  p_sync_id uuid, p_epoch bigint, p_lease_seconds int, p_limit int, p_chunker_version int
)
returns table (
  seq int, action text, file_path text, blob_sha text, size_bytes bigint, content text,
  is_current boolean, deliveries int
)
language plpgsql
set search_path = ''
as $$
declare
  v_sync public.quoth_syncs := private.hold_sync(p_sync_id, p_epoch, p_lease_seconds);
  v_first private.quoth_sync_files;
begin
  select * into v_first from private.quoth_sync_files as file where file.sync_id = v_sync.id order by file.seq limit 1;
  return query
    with begun as (
      update private.quoth_sync_files as file
      set deliveries = file.deliveries + 1
      where file.sync_id = v_sync.id
        and file.seq in (
          select next.seq from private.quoth_sync_files as next
          where next.sync_id = v_sync.id
          order by next.seq
          -- A file that may have killed a worker is tried alone.
          limit case when v_first.deliveries > 0 then 1 else p_limit end
        )
      returning file.*
    )
    select begun.seq, begun.action, begun.file_path, begun.blob_sha, begun.size_bytes,
      case when document.blob_sha = begun.blob_sha then document.content else begun.content end,
      begun.action = 'write' and document.blob_sha is not distinct from begun.blob_sha
        and document.chunker_version = p_chunker_version,
      begun.deliveries
    from begun
    left join public.documents as document
      on document.project_id = v_sync.project_id and document.file_path = coalesce(begun.old_path, begun.file_path)
    order by begun.seq;
end;
$$;
comment on function private.begin_sync_files(uuid, bigint, int, int, int) is
  'The next files of a sync, counted as begun. A file whose content is already stored is returned with it: a moved file, because its title may depend on its path, or a file to split again; is_current is true when neither is necessary. Called by quoth-sync.';

create function private.find_former_path(p_sync_id uuid, p_project_id uuid, p_embedder text, p_chunks jsonb)
returns text
language sql
stable
set search_path = ''
as $$
  with wanted as (
    select distinct chunk ->> 'chunk_hash' as chunk_hash from jsonb_array_elements(p_chunks) as chunk
  )
  select file.file_path
  from private.quoth_sync_files as file
  join public.documents as document on document.project_id = p_project_id and document.file_path = file.file_path
  join public.document_embeddings as chunk on chunk.document_id = document.id and chunk.embedder = p_embedder
  join wanted on wanted.chunk_hash = chunk.chunk_hash
  where file.sync_id = p_sync_id and file.action = 'delete'
  group by file.file_path
  having 2 * count(distinct chunk.chunk_hash) >= (select count(*) from wanted)
  order by count(distinct chunk.chunk_hash) desc, file.file_path
  limit 1;
$$;
comment on function private.find_former_path(uuid, uuid, text, jsonb) is
  'The former path of a new document: a file that this sync deletes and that shares half of its chunks; null: none.';

create function private.apply_sync_file(
  p_sync_id uuid, p_epoch bigint, p_lease_seconds int, p_seq int,
  p_document jsonb, p_embedder text, p_chunks jsonb, p_error jsonb
)
returns text
language plpgsql
set search_path = ''
as $$
declare
  v_project_id uuid := (select project_id from public.quoth_syncs where id = p_sync_id);
  v_sync public.quoth_syncs;
  v_file private.quoth_sync_files;
  v_outcome text;
  v_former_path text;
begin
  perform private.hold_project(v_project_id);
  v_sync := private.hold_sync(p_sync_id, p_epoch, p_lease_seconds);
  delete from private.quoth_sync_files where sync_id = v_sync.id and seq = p_seq returning * into v_file;
  if not found then
    return 'done';
  end if;

  if p_error is not null then
    v_outcome := 'refused';
    perform private.delete_document(v_project_id, coalesce(v_file.old_path, v_file.file_path), v_sync.commit_sha);
    insert into public.quoth_file_errors as known (project_id, file_path, blob_sha, commit_sha, error)
    values (v_project_id, v_file.file_path, v_file.blob_sha, v_sync.commit_sha, p_error)
    on conflict (project_id, file_path) do update
    set blob_sha = excluded.blob_sha, commit_sha = excluded.commit_sha, error = excluded.error,
        failed_at = clock_timestamp();
  else
    delete from public.quoth_file_errors where project_id = v_project_id and file_path = v_file.file_path;
    if v_file.action = 'delete' then
      perform private.delete_document(v_project_id, v_file.file_path, v_sync.commit_sha);
      v_outcome := 'deleted';
    elsif p_document is null then
      v_outcome := 'unchanged';
    else
      v_former_path := v_file.old_path;
      if v_file.action = 'write' and not exists (
        select from public.documents where project_id = v_project_id and file_path = v_file.file_path
      ) then
        v_former_path := private.find_former_path(v_sync.id, v_project_id, p_embedder, p_chunks);
        delete from private.quoth_sync_files
        where sync_id = v_sync.id and action = 'delete' and file_path = v_former_path;
      end if;
      if v_former_path is not null then
        perform private.move_document(v_project_id, v_former_path, v_file.file_path, v_sync.commit_sha);
      end if;
      perform private.replace_document(
        v_project_id,
        p_document || jsonb_build_object(
          'file_path', v_file.file_path, 'blob_sha', v_file.blob_sha, 'commit_sha', v_sync.commit_sha
        ),
        p_embedder, p_chunks
      );
      v_outcome := case when v_former_path is null then 'written' else 'moved' end;
    end if;
  end if;

  update public.quoth_syncs
  set deliveries = 0,
      written_count = written_count + (v_outcome = 'written')::int,
      unchanged_count = unchanged_count + (v_outcome = 'unchanged')::int,
      moved_count = moved_count + (v_outcome = 'moved')::int,
      deleted_count = deleted_count + (v_outcome = 'deleted')::int,
      refused_count = refused_count + (v_outcome = 'refused')::int
  where id = v_sync.id;
  return v_outcome;
end;
$$;
comment on function private.apply_sync_file(uuid, bigint, int, int, jsonb, text, jsonb, jsonb) is
  'Applies one file of a sync in one transaction and returns the result: written, moved, deleted, unchanged, refused (p_error has the reason; the document is deleted), or done when it was already applied. p_document null: nothing to store. Called by quoth-sync.';
