-- Reading a document by its path, and the freshness of a project's index.

create function public.read_document(p_project_id uuid, p_file_path text)
returns table (
  state text, file_path text, document_id uuid, title text, content text, front_matter jsonb, commit_sha text, at timestamptz
)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_path text := regexp_replace(p_file_path, '^(\./|/)+', '');
  v_document_id uuid;
  v_deletion public.document_moves;
  v_refusal jsonb;
  v_alike text;
begin
  return query
    select 'found', document.file_path, document.id, document.title, document.content, document.front_matter,
      document.commit_sha, document.last_updated
    from public.documents as document
    where document.project_id = p_project_id and document.file_path = v_path;
  if found then
    return;
  end if;

  select move.document_id into v_document_id
  from public.document_moves as move
  where move.project_id = p_project_id and move.old_path = v_path
  order by move.id desc
  limit 1;
  return query
    select 'moved', document.file_path, document.id, document.title, document.content, document.front_matter,
      document.commit_sha, document.last_updated
    from public.documents as document
    where document.id = v_document_id;
  if found then
    return;
  end if;

  select move.* into v_deletion
  from public.document_moves as move
  where move.document_id = v_document_id and move.new_path is null
  order by move.id desc
  limit 1;
  v_path := coalesce(v_deletion.old_path, v_path);
  -- A file that can no longer be indexed has no document, although the repository has it.
  select refused.error into v_refusal
  from public.quoth_file_errors as refused
  where refused.project_id = p_project_id and refused.file_path = v_path;
  if found then
    perform private.raise_error('DOCUMENT_NOT_FOUND',
      format('Cannot read %L: the file is in the repository but not indexed. %s', left(v_path, 200), v_refusal ->> 'message'),
      coalesce(v_refusal ->> 'hint', 'The table quoth_file_errors has the reason.'));
  end if;
  if v_deletion.id is not null then
    return query
      select 'deleted', v_deletion.old_path, v_deletion.document_id, null::text, null::text, null::jsonb,
        v_deletion.commit_sha, v_deletion.at;
    return;
  end if;

  if not exists (select from public.projects as project where project.id = p_project_id) then
    perform private.raise_error('PROJECT_NOT_FOUND',
      format('Cannot read documents of project %s: it does not exist, or you are not a member', p_project_id),
      'Read the slugs and ids of your projects from the table projects.');
  end if;
  select string_agg(alike.file_path, ', ') into v_alike
  from (
    select document.file_path
    from public.documents as document
    where document.project_id = p_project_id
      and lower(regexp_replace(document.file_path, '^.*/', '')) = lower(regexp_replace(v_path, '^.*/', ''))
    order by document.file_path
    limit 3
  ) as alike;
  perform private.raise_error('DOCUMENT_NOT_FOUND',
    format('Cannot read %L: the project has no such document', left(v_path, 200)),
    coalesce('Did you mean ' || v_alike || '?', 'Search for it, or read the paths from the table documents.'));
end;
$$;
comment on function public.read_document(uuid, text) is
  'The document at a path, with a state: found; moved, with its new path (file_path); or deleted, without content, with the commit and time of the deletion. Raises PROJECT_NOT_FOUND or DOCUMENT_NOT_FOUND, which explains why a file of the repository cannot be indexed, or else suggests documents with the same file name.';
revoke all on function public.read_document(uuid, text) from public, anon, authenticated, service_role;
grant execute on function public.read_document(uuid, text) to authenticated, service_role;

create function private.project_freshness(p_project_id uuid)
returns table (
  indexed_commit text, indexed_at timestamptz, head_commit text, head_checked_at timestamptz, is_behind boolean,
  document_count bigint, pending_chunks bigint, failed_chunks bigint, embedder text, next_embedder text
)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_project public.projects := private.readable_project(p_project_id);
  v_failed bigint := (
    select count(*)
    from private.pending_embeddings as failed
    join public.document_embeddings as chunk
      on chunk.project_id = failed.project_id
      and chunk.embedder = failed.embedder
      and chunk.chunk_hash = failed.chunk_hash
    where failed.project_id = v_project.id
      and failed.embedder = v_project.embedder
      and failed.failed_at is not null
      and chunk.embedding is null
  );
begin
  return query select
    v_project.indexed_commit, v_project.indexed_at, v_project.head_commit, v_project.head_checked_at,
    v_project.head_commit is distinct from v_project.indexed_commit,
    (select count(*) from public.documents as document where document.project_id = v_project.id),
    (
      select count(*) - v_failed
      from public.document_embeddings as chunk
      where chunk.project_id = v_project.id and chunk.embedder = v_project.embedder and chunk.embedding is null
    ),
    v_failed, v_project.embedder, v_project.next_embedder;
end;
$$;
comment on function private.project_freshness(uuid) is
  'See public.project_freshness(). Definer: counts in tables that users may not read; readable_project() checks the caller.';

create function public.project_freshness(p_project_id uuid)
returns table (
  indexed_commit text, indexed_at timestamptz, head_commit text, head_checked_at timestamptz, is_behind boolean,
  document_count bigint, pending_chunks bigint, failed_chunks bigint, embedder text, next_embedder text
)
language sql
stable
set search_path = ''
as $$
  select * from private.project_freshness(p_project_id);
$$;
comment on function public.project_freshness(uuid) is
  'How far a project''s index is behind its repository: commits, chunks that wait for a vector (until then found only by words), and chunks whose text the embedder refused. Raises PROJECT_NOT_FOUND.';
revoke all on function public.project_freshness(uuid) from public, anon, authenticated, service_role;
grant execute on function private.project_freshness(uuid), public.project_freshness(uuid)
  to authenticated, service_role;
