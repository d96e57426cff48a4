-- A copy of the vectors at half precision, stored in the rows. In document_embeddings each vector is stored
-- out of line, so comparing all vectors of a project there costs several times as much.

create table private.chunk_vectors (
  chunk_id uuid primary key references public.document_embeddings (id) on delete cascade,
  -- No foreign keys: the chunk is deleted with its document and its project.
  project_id uuid not null,
  document_id uuid not null,
  embedder text not null,
  embedding extensions.halfvec(768) not null
);
alter table private.chunk_vectors alter column embedding set storage plain;
create index chunk_vectors_project_id_idx on private.chunk_vectors (project_id, embedder);
comment on table private.chunk_vectors is
  'document_embeddings.embedding at half precision, with which a search selects the chunks whose full vectors it compares. Maintained by the trigger record_chunk_vector.';
alter table private.chunk_vectors enable row level security;

create function private.record_chunk_vector()
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
comment on function private.record_chunk_vector() is
  'Row trigger of document_embeddings: maintains private.chunk_vectors. Definer: the role that writes chunks has no right to that table.';

create trigger record_chunk_vector
  after insert or update of embedding, project_id, document_id, embedder on public.document_embeddings
  for each row execute function private.record_chunk_vector();
