begin;
set local search_path = public, extensions;
select plan(7);

create temp table project on commit drop as select tests.create_project('docs') as id;
select is(
  (select tests.write_document(id, 'a.md', 'one', 'two', 'two') from project) - 'document_id',
  '{"chunk_count": 3, "kept_count": 0, "copied_count": 0, "pending_count": 3}', 'a new document is pending'
);
select is((select count(*) from private.pending_embeddings), 2::bigint, 'equal texts are embedded once');
select tests.embed((select id from project));
select is((select count(*) from public.document_embeddings where embedding is null), 0::bigint, 'both chunks get the vector');
create temp table before on commit drop as select id from public.document_embeddings;

select is(
  (select tests.write_document(id, 'a.md', 'new', 'one', 'two') from project) - 'document_id',
  '{"chunk_count": 3, "kept_count": 2, "copied_count": 0, "pending_count": 1}', 'only the new chunk is pending'
);
select results_eq(
  'select content_chunk, chunk_index, start_line, id in (select id from before), embedding is null
   from public.document_embeddings order by chunk_index',
  $$values ('new', 0, 1, false, true), ('one', 1, 2, true, false), ('two', 2, 3, true, false)$$,
  'kept chunks keep their id and vector, and get their new lines'
);
select is(
  (select tests.write_document(id, 'b.md', 'two', 'new') from project) - 'document_id',
  '{"chunk_count": 2, "kept_count": 0, "copied_count": 1, "pending_count": 1}', 'another document reuses its vectors'
);
select tests.write_document(id, 'a.md', 'two') from project;
select tests.write_document(id, 'b.md', 'two') from project;
select is((select count(*) from private.pending_embeddings), 0::bigint, 'a text without chunks is not embedded');

select * from finish();
rollback;
