-- Documents, their chunks with text and vectors, and where documents went.

create table public.documents (
  id uuid primary key default gen_random_uuid(),
  project_id uuid not null references public.projects (id) on delete cascade,
  file_path text not null check (length(file_path) between 1 and 1024),
  title text not null,
  content text not null,
  checksum text not null,
  chunker_version int not null default 0,
  blob_sha text,
  commit_sha text,
  front_matter jsonb not null default '{}' check (jsonb_typeof(front_matter) = 'object'),
  chunked_for text[] not null default '{}',
  last_updated timestamptz not null default now(),
  unique (project_id, file_path)
);
comment on table public.documents is
  'Markdown files as of the indexed commit. Written by the sync, readable to members of the project.';
comment on column public.documents.content is 'The file as it is, front matter included.';
comment on column public.documents.checksum is
  'Of the part that is split into chunks and of how it is split: equal ones have equal chunks. Syncs go by blob_sha and chunker_version.';
comment on column public.documents.chunker_version is
  'Of the splitter that made its chunks: a sync splits documents of another version again. 0: unknown.';
comment on column public.documents.blob_sha is 'Git''s id of the content, computed where the content was sent directly.';
comment on column public.documents.commit_sha is 'A commit at which this content stands at this path.';
comment on column public.documents.chunked_for is 'Embedders whose chunks fit this content.';

create table public.document_embeddings (
  id uuid primary key default gen_random_uuid(),
  document_id uuid not null references public.documents (id) on delete cascade,
  project_id uuid not null references public.projects (id) on delete cascade,
  content_chunk text not null,
  embedding extensions.vector(768),
  metadata jsonb,
  chunk_index int not null check (chunk_index >= 0),
  heading_path text[] not null default '{}',
  anchor text,
  start_line int check (start_line > 0),
  end_line int,
  chunk_hash text not null,
  token_count int not null check (token_count >= 0),
  embedder text not null,
  fts tsvector not null,
  constraint document_embeddings_lines check ((start_line is null) = (end_line is null) and end_line >= start_line)
  -- Room for changed line numbers on the same page, so that they touch no index.
) with (fillfactor = 80);
-- Ranking reads the words of thousands of chunks: they stay on the row, the text goes elsewhere.
alter table public.document_embeddings alter column fts set storage main;
create index document_embeddings_document_id_idx on public.document_embeddings (document_id, embedder);
create index document_embeddings_reuse_idx on public.document_embeddings (project_id, embedder, chunk_hash);
create index document_embeddings_embedded_idx on public.document_embeddings (project_id, embedder)
  where embedding is not null;
create index document_embeddings_pending_idx on public.document_embeddings (project_id, embedder)
  where embedding is null;
-- Twice the usual care when a vector is put in: of 50,000 it is the difference between 94 and 97 of
-- 100 nearest ones that are found.
create index document_embeddings_embedding_idx on public.document_embeddings
  using hnsw (embedding extensions.vector_cosine_ops) with (m = 16, ef_construction = 128);
comment on table public.document_embeddings is
  'Chunks of documents: the text that is searched, and its vector. While a project switches embedders it has chunks for both.';
comment on column public.document_embeddings.project_id is 'The document''s; filled in when left out.';
comment on column public.document_embeddings.content_chunk is 'Lines of the document as they are.';
comment on column public.document_embeddings.embedding is 'Null while it is pending: full text finds the chunk already.';
comment on column public.document_embeddings.chunk_index is 'Place among the document''s chunks, from 0; the next one when left out.';
comment on column public.document_embeddings.heading_path is 'Headings above the chunk, outermost first.';
comment on column public.document_embeddings.anchor is 'Fragment of the URL that leads to the heading.';
comment on column public.document_embeddings.start_line is 'First line in the document, from 1.';
comment on column public.document_embeddings.end_line is 'Last line, inclusive.';
comment on column public.document_embeddings.chunk_hash is 'Of what is embedded; equal hashes share one vector.';
comment on column public.document_embeddings.token_count is 'Estimated; 0 when left out.';
comment on column public.document_embeddings.embedder is 'Vector space of the embedding; vectors of different ones are never compared.';
comment on column public.document_embeddings.fts is 'Headings, text and the parts of identifiers, stemmed in the project''s language.';

create table public.document_moves (
  id bigint generated always as identity primary key,
  project_id uuid not null references public.projects (id) on delete cascade,
  document_id uuid not null,
  old_path text not null,
  new_path text,
  commit_sha text,
  at timestamptz not null default clock_timestamp()
);
create index document_moves_old_path_idx on public.document_moves (project_id, old_path, id desc);
create index document_moves_document_id_idx on public.document_moves (document_id, id desc);
comment on table public.document_moves is
  'Where documents went, so that an old path leads to the new one, or to the answer that the document is gone.';
comment on column public.document_moves.document_id is 'No foreign key: deleted documents are what it is for.';
comment on column public.document_moves.new_path is 'Null: deleted.';
comment on column public.document_moves.commit_sha is 'The commit at which it was seen.';

create table private.pending_embeddings (
  project_id uuid not null references public.projects (id) on delete cascade,
  embedder text not null,
  chunk_hash text not null,
  seq bigint generated always as identity,
  title text not null,
  embedded_text text not null,
  token_count int not null,
  due_at timestamptz not null default clock_timestamp(),
  epoch bigint not null default 0,
  attempts int not null default 0,
  deliveries int not null default 0,
  error jsonb,
  failed_at timestamptz,
  primary key (project_id, embedder, chunk_hash),
  constraint pending_embeddings_failed_has_error check (failed_at is null or error is not null)
);
create index pending_embeddings_seq_idx on private.pending_embeddings (project_id, embedder, seq)
  where failed_at is null;
comment on table private.pending_embeddings is
  'Texts that wait for their vector, each once however many chunks have it. A row goes when its vector is stored.';
comment on column private.pending_embeddings.seq is 'Oldest first.';
comment on column private.pending_embeddings.embedded_text is 'Headings and content, as the embedder gets them.';
comment on column private.pending_embeddings.due_at is 'Claimable from then on; a claim moves it to the end of its lease.';
comment on column private.pending_embeddings.epoch is 'Each claim adds one; a result with an older epoch changes nothing.';
comment on column private.pending_embeddings.attempts is 'Refusals by the embedder.';
comment on column private.pending_embeddings.deliveries is 'Claims that came to no end: more than one means that workers died.';
comment on column private.pending_embeddings.failed_at is 'Given up; full text alone finds the chunk. Tried again when it is queued again by requeue_failed_chunks().';

create table private.spare_embeddings (
  project_id uuid not null references public.projects (id) on delete cascade,
  embedder text not null,
  chunk_hash text not null,
  embedding extensions.vector(768) not null,
  primary key (project_id, embedder, chunk_hash)
);
comment on table private.spare_embeddings is
  'Vectors of chunks that documents have lost while a sync is under way: where files take each other''s places, a later one has the same text. They go when the project''s last sync has ended.';

alter table public.documents enable row level security;
alter table public.document_embeddings enable row level security;
alter table public.document_moves enable row level security;
alter table private.pending_embeddings enable row level security;
alter table private.spare_embeddings enable row level security;
-- Numbers are the sync's to give.
create policy "members read documents" on public.documents
  for select to authenticated using (
    project_id in (select membership.project_id from public.project_members as membership where membership.user_id = (select auth.uid()))
  );
comment on policy "members read documents" on public.documents is
  'Members read every document of the project; search functions check the same with readable_project().';
create policy "members read chunks" on public.document_embeddings
  for select to authenticated using (
    project_id in (select membership.project_id from public.project_members as membership where membership.user_id = (select auth.uid()))
  );
comment on policy "members read chunks" on public.document_embeddings is
  'As documents: what a search may show may also be read as a row.';
create policy "members read where documents went" on public.document_moves
  for select to authenticated using (
    project_id in (select membership.project_id from public.project_members as membership where membership.user_id = (select auth.uid()))
  );
comment on policy "members read where documents went" on public.document_moves is
  'So that a link to an old path can be followed.';
grant select on public.documents, public.document_embeddings, public.document_moves to authenticated;
grant select, insert, update, delete on public.documents, public.document_embeddings, public.document_moves to service_role;
