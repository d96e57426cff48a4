-- Vectors of tables, by which generate_sql finds those that a question names in other words.

create table private.table_vectors (
  embedder text not null references public.embedders (name) on delete cascade,
  text_hash bytea not null,
  embedding extensions.vector(768) not null,
  primary key (embedder, text_hash)
);
comment on table private.table_vectors is
  'A vector of each line that describes a table to a model, made when a question needs it. Rows of lines that no table has any more go when others come.';
comment on column private.table_vectors.text_hash is 'SHA-256 of the line.';
alter table private.table_vectors enable row level security;
