begin;
set local search_path = public, extensions;
select plan(7);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, 'old.md', 'one', 'two'), tests.write_document(id, 'other.md', 'three') from project;
select tests.embed((select id from project));
create temp view chunk_at as
  select document.file_path, chunk.id, chunk.embedding::text
  from public.document_embeddings as chunk
  join public.documents as document on document.id = chunk.document_id;
create temp table before on commit drop as select id, embedding from chunk_at where file_path = 'old.md';

select ok((select private.move_document(id, 'old.md', 'new/place.md', 'beef') from project), 'the document moves');
select bag_eq(
  $$select id, embedding from chunk_at where file_path = 'new/place.md'$$, 'select * from before', 'its chunks and vectors move with it'
);
select is((select commit_sha from public.documents where file_path = 'new/place.md'), 'beef', 'its commit is one that has the new path');
select ok(not (select private.move_document(id, 'old.md', 'new/place.md') from project), 'a repeated call reports that it changed nothing');
select ok((select private.move_document(id, 'new/place.md', 'other.md') from project), 'a document can move onto another one');
select results_eq('select file_path from public.documents', $$values ('other.md')$$, 'it replaces that document');
select is((select count(*) from public.document_embeddings), 2::bigint, 'the chunks of the replaced document are deleted');

select * from finish();
rollback;
