-- Each document changes in one transaction: a reader sees either the old or the new version.

create function private.assert_document_is_valid(p_document jsonb, p_chunks jsonb)
returns void
language plpgsql
immutable
set search_path = ''
as $$
declare
  v_missing text := (
    select string_agg(field, ', ')
    from unnest(array['file_path', 'title', 'content', 'checksum']) as field
    where jsonb_typeof(p_document -> field) is distinct from 'string'
  );
begin
  if v_missing is not null then
    perform private.raise_error('DOCUMENT_INVALID',
      format('Cannot store the document %L: it lacks %s', p_document ->> 'file_path', v_missing),
      'Give the texts file_path, title, content and checksum.');
  end if;
  if jsonb_typeof(p_chunks) is distinct from 'array' or exists (
    select from jsonb_array_elements(p_chunks) as chunk
    where jsonb_typeof(chunk) <> 'object' or not (chunk ?& array['content', 'embedded_text', 'chunk_hash', 'start_line', 'end_line'])
  ) then
    perform private.raise_error('DOCUMENT_INVALID',
      format('Cannot store the document %L: its chunks are not complete', p_document ->> 'file_path'),
      'Give an array of {content, embedded_text, chunk_hash, start_line, end_line, heading_path?, anchor?, token_count?}.');
  end if;
end;
$$;
comment on function private.assert_document_is_valid(jsonb, jsonb) is 'Raises DOCUMENT_INVALID when the document or a chunk lacks a field.';

create function private.delete_unwanted_embeddings(p_project_id uuid, p_embedder text, p_chunk_hashes text[])
returns void
language sql
set search_path = ''
as $$
  delete from private.pending_embeddings as pending
  where pending.project_id = p_project_id
    and pending.embedder = p_embedder
    and pending.chunk_hash = any (p_chunk_hashes)
    and not exists (
      select from public.document_embeddings as chunk
      where chunk.project_id = p_project_id
        and chunk.embedder = p_embedder
        and chunk.chunk_hash = pending.chunk_hash
    );
$$;
comment on function private.delete_unwanted_embeddings(uuid, text, text[]) is
  'Deletes pending texts that no chunk has anymore.';

create function private.lock_pending(p_project_id uuid, p_embedder text, p_chunk_hashes text[])
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform from private.pending_embeddings as pending
  where pending.project_id = p_project_id
    and pending.embedder = p_embedder
    and pending.chunk_hash = any (p_chunk_hashes)
  order by pending.chunk_hash
  for update;
end;
$$;
comment on function private.lock_pending(uuid, text, text[]) is
  'Locks pending texts in a fixed order. Everything that writes chunks calls it first, because storing a document and storing vectors of its texts at the same time could otherwise deadlock.';

create function private.pair_chunks(p_document_id uuid, p_embedder text, p_chunks jsonb)
returns table (
  id uuid, chunk_index int, heading_path text[], anchor text, start_line int, end_line int,
  content text, embedded_text text, chunk_hash text, token_count int
)
language sql
stable
set search_path = ''
as $$
  with wanted as (
    select chunk.*, element.place::int - 1 as chunk_index,
      row_number() over (partition by chunk.chunk_hash order by element.place) as twin
    from jsonb_array_elements(p_chunks) with ordinality as element (value, place)
    cross join lateral jsonb_to_record(element.value) as chunk (
      heading_path text[], anchor text, start_line int, end_line int,
      content text, embedded_text text, chunk_hash text, token_count int
    )
  ),
  stored as (
    select chunk.id, chunk.chunk_hash,
      row_number() over (partition by chunk.chunk_hash order by chunk.chunk_index) as twin
    from public.document_embeddings as chunk
    where chunk.document_id = p_document_id and chunk.embedder = p_embedder
  )
  select stored.id, wanted.chunk_index, coalesce(wanted.heading_path, '{}'), wanted.anchor, wanted.start_line,
    wanted.end_line, wanted.content, wanted.embedded_text, wanted.chunk_hash, coalesce(wanted.token_count, 0)
  from wanted
  left join stored on stored.chunk_hash = wanted.chunk_hash and stored.twin = wanted.twin;
$$;
comment on function private.pair_chunks(uuid, text, jsonb) is
  'The new chunks of a document in order, each with the id of the stored chunk with the same hash; a null id is a new chunk.';

create function private.chunk_metadata(p_heading_path text[])
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'source', 'markdown-split',
    'section', p_heading_path[cardinality(p_heading_path)]
  ));
$$;
comment on function private.chunk_metadata(text[]) is
  'The metadata of a chunk: its source and the heading that it belongs to.';

create function private.record_chunks(p_document public.documents, p_embedder text, p_chunks jsonb)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_gone_hashes text[];
  v_counts jsonb;
begin
  perform private.lock_pending(p_document.project_id, p_embedder, array(
    select chunk ->> 'chunk_hash' from jsonb_array_elements(p_chunks) as chunk
    union
    select chunk.chunk_hash from public.document_embeddings as chunk
    where chunk.document_id = p_document.id and chunk.embedder = p_embedder
  ));
  with wanted as materialized (
    select * from private.pair_chunks(p_document.id, p_embedder, p_chunks)
  ),
  kept as (
    update public.document_embeddings as chunk
    set chunk_index = wanted.chunk_index, heading_path = wanted.heading_path, anchor = wanted.anchor,
        start_line = wanted.start_line, end_line = wanted.end_line,
        metadata = private.chunk_metadata(wanted.heading_path)
    from wanted
    where chunk.id = wanted.id
      and (chunk.chunk_index, chunk.heading_path, chunk.anchor, chunk.start_line, chunk.end_line)
        is distinct from (wanted.chunk_index, wanted.heading_path, wanted.anchor, wanted.start_line, wanted.end_line)
  ),
  gone as (
    delete from public.document_embeddings as chunk
    where chunk.document_id = p_document.id
      and chunk.embedder = p_embedder
      and not exists (select from wanted where wanted.id = chunk.id)
    returning chunk.chunk_hash, chunk.embedding
  ),
  spared as (
    insert into private.spare_embeddings (project_id, embedder, chunk_hash, embedding)
    select distinct on (gone.chunk_hash) p_document.project_id, p_embedder, gone.chunk_hash, gone.embedding
    from gone
    where gone.embedding is not null
    on conflict do nothing
  ),
  made as (
    insert into public.document_embeddings (document_id, content_chunk, embedding, chunk_index, heading_path,
      anchor, start_line, end_line, chunk_hash, token_count, embedder, metadata)
    select p_document.id, wanted.content, coalesce(twin.embedding, spare.embedding), wanted.chunk_index, wanted.heading_path,
      wanted.anchor, wanted.start_line, wanted.end_line, wanted.chunk_hash, wanted.token_count, p_embedder,
      private.chunk_metadata(wanted.heading_path)
    from wanted
    left join lateral (
      select chunk.embedding
      from public.document_embeddings as chunk
      where chunk.project_id = p_document.project_id
        and chunk.embedder = p_embedder
        and chunk.chunk_hash = wanted.chunk_hash
        and chunk.embedding is not null
      limit 1
    ) as twin on true
    left join private.spare_embeddings as spare
      on spare.project_id = p_document.project_id and spare.embedder = p_embedder and spare.chunk_hash = wanted.chunk_hash
    where wanted.id is null
    returning chunk_hash, embedding is null as is_pending
  ),
  queued as (
    insert into private.pending_embeddings (project_id, embedder, chunk_hash, title, embedded_text, token_count)
    select distinct on (wanted.chunk_hash)
      p_document.project_id, p_embedder, wanted.chunk_hash, p_document.title, wanted.embedded_text, wanted.token_count
    from wanted
    where wanted.chunk_hash in (select made.chunk_hash from made where made.is_pending)
    order by wanted.chunk_hash
    -- Changes nothing but takes the row lock: a concurrent store of this vector waits and then finds this chunk.
    on conflict (project_id, embedder, chunk_hash) do update set token_count = excluded.token_count
  )
  select
    (select array_agg(gone.chunk_hash) from gone),
    jsonb_build_object(
      'chunk_count', (select count(*) from wanted),
      'kept_count', (select count(*) from wanted where wanted.id is not null),
      'copied_count', (select count(*) from made where not made.is_pending),
      'pending_count', (select count(*) from made where made.is_pending)
    )
  into v_gone_hashes, v_counts;

  perform private.delete_unwanted_embeddings(p_document.project_id, p_embedder, v_gone_hashes);
  update public.documents
  set chunked_for = chunked_for || p_embedder
  where id = p_document.id and not chunked_for @> array[p_embedder];
  return v_counts;
end;
$$;
comment on function private.record_chunks(public.documents, text, jsonb) is
  'Sets the chunks of a document for one embedder: keeps chunks with an equal hash, copies vectors of equal hashes from the project or from chunks that this sync removed, and leaves the rest pending. Returns {chunk_count, kept_count, copied_count, pending_count}.';

create function private.hold_project(p_project_id uuid)
returns public.projects
language plpgsql
set search_path = ''
as $$
declare
  v_project public.projects;
begin
  select project.* into v_project
  from public.projects as project
  where project.id = p_project_id
  for no key update;
  if not found then
    perform private.raise_error('PROJECT_NOT_FOUND',
      format('Cannot change documents of project %s: it does not exist', p_project_id),
      'It may have been deleted in the meantime; stop working on it.');
  end if;
  return v_project;
end;
$$;
comment on function private.hold_project(uuid) is
  'Locks a project, so that its documents are written one at a time and its embedder does not change. Raises PROJECT_NOT_FOUND.';

create function private.replace_document(p_project_id uuid, p_document jsonb, p_embedder text, p_chunks jsonb)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_project public.projects := private.hold_project(p_project_id);
  v_document public.documents;
begin
  perform private.assert_document_is_valid(p_document, p_chunks);
  if v_project.embedder is null then
    update public.projects set embedder = p_embedder where id = p_project_id;
  elsif v_project.embedder is distinct from p_embedder then
    perform private.raise_error('EMBEDDER_MISMATCH',
      format('Cannot store %L: its chunks are for embedder %L, but project %L is searched with %L',
        p_document ->> 'file_path', p_embedder, v_project.slug, v_project.embedder),
      'Read projects.embedder again and split the document for it.');
  end if;

  insert into public.documents as stored
    (project_id, file_path, title, content, checksum, chunker_version, blob_sha, commit_sha, front_matter)
  values (
    p_project_id, p_document ->> 'file_path', p_document ->> 'title', p_document ->> 'content',
    p_document ->> 'checksum', coalesce((p_document ->> 'chunker_version')::int, 0),
    p_document ->> 'blob_sha', p_document ->> 'commit_sha',
    coalesce(nullif(p_document -> 'front_matter', 'null'), '{}')
  )
  on conflict (project_id, file_path) do update
  set title = excluded.title,
      content = excluded.content,
      checksum = excluded.checksum,
      chunker_version = excluded.chunker_version,
      blob_sha = excluded.blob_sha,
      commit_sha = excluded.commit_sha,
      front_matter = excluded.front_matter,
      -- Chunks for the next embedder match the old content, so they must be created again.
      chunked_for = case
        when (stored.content, stored.title, stored.chunker_version)
          = (excluded.content, excluded.title, excluded.chunker_version) then stored.chunked_for
        else '{}'
      end,
      last_updated = clock_timestamp()
  returning * into v_document;

  return private.record_chunks(v_document, p_embedder, p_chunks)
    || jsonb_build_object('document_id', v_document.id);
end;
$$;
comment on function private.replace_document(uuid, jsonb, text, jsonb) is
  'Creates or replaces the document {file_path, title, content, checksum, chunker_version?, blob_sha?, commit_sha?, front_matter?} at its path, and its chunks [{content, embedded_text, chunk_hash, start_line, end_line, heading_path?, anchor?, token_count?}], in one transaction; a project without an embedder gets this one. Returns {document_id, chunk_count, kept_count, copied_count, pending_count}. Raises EMBEDDER_MISMATCH, DOCUMENT_INVALID or PROJECT_NOT_FOUND. Called by the sync.';

create function private.delete_document(p_project_id uuid, p_file_path text, p_commit_sha text default null)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_document_id uuid;
  v_chunk record;
begin
  perform private.hold_project(p_project_id);
  select id into v_document_id
  from public.documents
  where project_id = p_project_id and file_path = p_file_path;
  if not found then
    return false;
  end if;

  for v_chunk in
    select chunk.embedder, array_agg(chunk.chunk_hash) as hashes
    from public.document_embeddings as chunk
    where chunk.document_id = v_document_id
    group by chunk.embedder
    order by chunk.embedder
  loop
    perform private.lock_pending(p_project_id, v_chunk.embedder, v_chunk.hashes);
  end loop;
  for v_chunk in
    with gone as (
      delete from public.document_embeddings where document_id = v_document_id returning embedder, chunk_hash
    )
    select gone.embedder, array_agg(gone.chunk_hash) as hashes from gone group by gone.embedder
  loop
    perform private.delete_unwanted_embeddings(p_project_id, v_chunk.embedder, v_chunk.hashes);
  end loop;
  delete from public.documents where id = v_document_id;
  insert into public.document_moves (project_id, document_id, old_path, new_path, commit_sha)
  values (p_project_id, v_document_id, p_file_path, null, p_commit_sha);
  return true;
end;
$$;
comment on function private.delete_document(uuid, text, text) is
  'Deletes the document at a path and records the deletion in document_moves; false when there is none. Called by the sync.';

create function private.move_document(
  p_project_id uuid, p_old_path text, p_new_path text, p_commit_sha text default null
)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_document_id uuid;
begin
  perform private.hold_project(p_project_id);
  select id into v_document_id
  from public.documents
  where project_id = p_project_id and file_path = p_old_path;
  if not found or p_old_path = p_new_path then
    return false;
  end if;

  -- As in Git, a file that is moved to an existing path replaces that file.
  perform private.delete_document(p_project_id, p_new_path, p_commit_sha);
  update public.documents
  set file_path = p_new_path, commit_sha = coalesce(p_commit_sha, commit_sha), last_updated = clock_timestamp()
  where id = v_document_id;
  insert into public.document_moves (project_id, document_id, old_path, new_path, commit_sha)
  values (p_project_id, v_document_id, p_old_path, p_new_path, p_commit_sha);
  return true;
end;
$$;
comment on function private.move_document(uuid, text, text, text) is
  'Moves a document with its chunks and vectors to another path and replaces a document there; false when there is none at the old path. Called by the sync.';
