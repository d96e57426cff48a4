-- The vectors once more, at half precision and side by side. In document_embeddings each of them lies
-- outside of its row: comparing all of a project's there costs several times as much.

create table private.chunk_vectors (
  chunk_id uuid primary key references public.document_embeddings (id) on delete cascade,
  -- No references: a chunk is gone with its document and its project.
  project_id uuid not null,
  document_id uuid not null,
  embedder text not null,
  embedding extensions.halfvec(768) not null
);
alter table private.chunk_vectors alter column embedding set storage plain;
create index chunk_vectors_project_id_idx on private.chunk_vectors (project_id, embedder);
comment on table private.chunk_vectors is
  'document_embeddings.embedding at half precision, from which a search picks the chunks whose whole vectors it compares. Kept by the trigger keep_chunk_vector.';
alter table private.chunk_vectors enable row level security;

create function private.keep_chunk_vector()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if new.embedding is null then
    delete from private.chunk_vectors where chunk_id = new.id;
  else
    insert into private.chunk_vectors (chunk_id, project_id, document_id, embedder, embedding)
    values (new.id, new.project_id, new.document_id, new.embedder, new.embedding::extensions.halfvec(768))
    on conflict (chunk_id) do update
    set project_id = excluded.project_id,
        document_id = excluded.document_id,
        embedder = excluded.embedder,
        embedding = excluded.embedding;
  end if;
  return null;
end;
$$;
comment on function private.keep_chunk_vector() is
  'Row trigger of document_embeddings: keeps private.chunk_vectors. Definer, since who writes chunks has no right to that table.';

create trigger keep_chunk_vector
  after insert or update of embedding, project_id, document_id, embedder on public.document_embeddings
  for each row execute function private.keep_chunk_vector();
