begin;
set local search_path = public, extensions;
select plan(6);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, 'a.md', 'one'), tests.write_document(id, 'b.md', 'two') from project;

select is((select count(*)::int from private.chunk_vectors), 0, 'a chunk without an embedding has no vector');
update public.document_embeddings set embedding = tests.vector('one') where content_chunk = 'one';
update public.document_embeddings set embedding = tests.vector('two') where content_chunk = 'two';
select set_eq(
  'select chunk_id, project_id, document_id, embedder, embedding from private.chunk_vectors',
  'select id, project_id, document_id, embedder, embedding::halfvec(768) from public.document_embeddings',
  'each vector is stored at half precision'
);
select is(
  (select array_agg(found.id) from project, private.nearest_by_scan(project.id, 'space', tests.vector('two'), 1, null) as found),
  (select array_agg(id) from public.document_embeddings where content_chunk = 'two'), 'the nearest chunk is found'
);
select is(
  (select found.distance from project, private.nearest_by_scan(project.id, 'space', tests.vector('one'), 1, null) as found),
  (select embedding <=> tests.vector('one') from public.document_embeddings where content_chunk = 'one'),
  'the distance is computed with the full vectors'
);
update public.document_embeddings set embedding = null where content_chunk = 'one';
select is((select count(*)::int from private.chunk_vectors), 1, 'a removed embedding removes its vector');
delete from public.documents;
select is((select count(*)::int from private.chunk_vectors), 0, 'the vectors are deleted with the document');

select * from finish();
rollback;
