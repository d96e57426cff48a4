-- Switching a project to another embedder: searches use the old one until the new one is complete.

create function private.is_switch_complete(p_project public.projects)
returns boolean
language sql
stable
set search_path = ''
as $$
  select not exists (
      select from public.documents as document
      where document.project_id = p_project.id and not document.chunked_for @> array[p_project.next_embedder]
    )
    and not exists (
      select from private.pending_embeddings as pending
      where pending.project_id = p_project.id
        and pending.embedder = p_project.next_embedder
        and pending.failed_at is null
    );
$$;
comment on function private.is_switch_complete(public.projects) is
  'True when every document has its chunks and vectors for the next embedder, except texts that the embedder refused.';

create function private.guard_embedder()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  if old.embedder is null or not exists (select from public.documents where project_id = old.id) then
    return new;
  end if;
  if new.embedder is distinct from old.next_embedder then
    perform private.raise_error('EMBEDDER_MISMATCH',
      format('Cannot search project %L with embedder %L: its documents have vectors of %L', old.slug, new.embedder, old.embedder),
      'Set next_embedder instead: the documents are embedded in the background, and the project switches when all are done.');
  end if;
  if not private.is_switch_complete(old) then
    perform private.raise_error('SWITCH_INCOMPLETE',
      format('Cannot switch project %L to embedder %L: not all of its documents are embedded yet', old.slug, new.embedder),
      'It switches automatically when they are; private.switch_progress() shows the progress.');
  end if;
  return new;
end;
$$;
comment on function private.guard_embedder() is
  'Row trigger of projects: prevents that a project with documents uses an embedder whose vectors it does not have. Raises EMBEDDER_MISMATCH or SWITCH_INCOMPLETE.';

create trigger guard_embedder before update of embedder on public.projects
  for each row when (old.embedder is distinct from new.embedder)
  execute function private.guard_embedder();

create function private.delete_other_embeddings()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  delete from public.document_embeddings
  where project_id = new.id and embedder not in (coalesce(new.embedder, 'unnamed'), coalesce(new.next_embedder, new.embedder, 'unnamed'));
  delete from private.pending_embeddings
  where project_id = new.id and embedder not in (coalesce(new.embedder, 'unnamed'), coalesce(new.next_embedder, new.embedder, 'unnamed'));
  delete from private.spare_embeddings
  where project_id = new.id and embedder not in (coalesce(new.embedder, 'unnamed'), coalesce(new.next_embedder, new.embedder, 'unnamed'));
  update public.documents as document
  set chunked_for = array(
    select name from unnest(document.chunked_for) as name where name in (new.embedder, new.next_embedder)
  )
  where document.project_id = new.id and not document.chunked_for <@ array[new.embedder, new.next_embedder];
  return null;
end;
$$;
comment on function private.delete_other_embeddings() is
  'Row trigger of projects: when a switch completes, is abandoned or changes its target, deletes chunks and pending texts of all other embedders. Definer: operators change projects through the API and have no right on the tables of schema private.';

create trigger delete_other_embeddings after update of embedder, next_embedder on public.projects
  for each row when (old.embedder is distinct from new.embedder or old.next_embedder is distinct from new.next_embedder)
  execute function private.delete_other_embeddings();

create function private.documents_to_chunk(p_project_id uuid, p_limit int)
returns table (document_id uuid, embedder text, file_path text, content text, content_hash text)
language sql
stable
set search_path = ''
as $$
  select document.id, project.next_embedder, document.file_path, document.content, md5(document.content)
  from public.projects as project
  join public.documents as document on document.project_id = project.id
  where project.id = p_project_id
    and project.next_embedder is not null
    and not document.chunked_for @> array[project.next_embedder]
  order by document.file_path
  limit p_limit;
$$;
comment on function private.documents_to_chunk(uuid, int) is
  'Documents that lack chunks for the project''s next embedder. The caller splits them and calls add_chunks(). Called by the sync.';

create function private.add_chunks(p_document_id uuid, p_content_hash text, p_embedder text, p_chunks jsonb)
returns jsonb
language plpgsql
set search_path = ''
as $$
declare
  v_document public.documents;
  v_project public.projects;
begin
  select document.* into v_document from public.documents as document where document.id = p_document_id;
  if not found then
    return null;
  end if;
  v_project := private.hold_project(v_document.project_id);
  select document.* into v_document from public.documents as document where document.id = p_document_id;
  -- The document or the switch has changed in the meantime; documents_to_chunk() lists the document again if needed.
  if not found or md5(v_document.content) <> p_content_hash or v_project.next_embedder is distinct from p_embedder then
    return null;
  end if;
  perform private.assert_document_is_valid(to_jsonb(v_document), p_chunks);
  return private.record_chunks(v_document, p_embedder, p_chunks);
end;
$$;
comment on function private.add_chunks(uuid, text, text, jsonb) is
  'Stores a document''s chunks for the next embedder, in the form of replace_document(); searches do not use them before the switch. Returns null and changes nothing when the document or the switch has changed since documents_to_chunk(). Called by the sync.';

create function private.switch_progress(p_project_id uuid)
returns table (
  embedder text, next_embedder text, document_count bigint, chunked_count bigint, chunk_count bigint,
  embedded_count bigint, failed_count bigint, is_complete boolean
)
language sql
stable
set search_path = ''
as $$
  select project.embedder, project.next_embedder,
    (select count(*) from public.documents as document where document.project_id = project.id),
    (
      select count(*) from public.documents as document
      where document.project_id = project.id and document.chunked_for @> array[project.next_embedder]
    ),
    chunk.total, chunk.embedded,
    (
      select count(*) from private.pending_embeddings as pending
      where pending.project_id = project.id and pending.embedder = project.next_embedder and pending.failed_at is not null
    ),
    project.next_embedder is not null and private.is_switch_complete(project)
  from public.projects as project
  cross join lateral (
    select count(*) as total, count(chunk.embedding) as embedded
    from public.document_embeddings as chunk
    where chunk.project_id = project.id and chunk.embedder = project.next_embedder
  ) as chunk
  where project.id = p_project_id;
$$;
comment on function private.switch_progress(uuid) is
  'Progress of a project''s switch: documents split and chunks embedded for next_embedder. For operators.';

create function private.finish_switch(p_project_id uuid)
returns boolean
language plpgsql
set search_path = ''
as $$
declare
  v_project public.projects := private.hold_project(p_project_id);
begin
  if v_project.next_embedder is null or not private.is_switch_complete(v_project) then
    return false;
  end if;
  update public.projects set embedder = v_project.next_embedder, next_embedder = null where id = p_project_id;
  return true;
end;
$$;
comment on function private.finish_switch(uuid) is
  'Switches a project to its next embedder, for all searches at the same moment, if every document is ready; returns whether it did.';

create function private.finish_switches()
returns int
language sql
set search_path = ''
as $$
  select private.run_for_each('finish_switch', array(
    select project.id from public.projects as project where project.next_embedder is not null
  ));
$$;
comment on function private.finish_switches() is 'Switches every project that is ready to its next embedder; returns how many. Called by cron.';

select cron.schedule('supaswarm-quoth-finish-switches', '* * * * *', 'select private.finish_switches()');
