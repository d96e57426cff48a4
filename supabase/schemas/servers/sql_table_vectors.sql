-- Vectors of tables, with which generate_sql finds tables that a question describes in other words.

create table private.table_vectors (
  embedder text not null references public.embedders (name) on delete cascade,
  text_hash bytea not null,
  embedding extensions.vector(768) not null,
  primary key (embedder, text_hash)
);
comment on table private.table_vectors is
  'Vectors of the lines that describe tables to a model, created when a question needs them. Rows of lines that no longer describe a table are deleted when new ones are added.';
comment on column private.table_vectors.text_hash is 'SHA-256 of the line.';
alter table private.table_vectors enable row level security;
