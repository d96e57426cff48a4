begin;
set local search_path = public, extensions;
select plan(2);

create temp table project on commit drop as select tests.create_project('docs') as id;
create function pg_temp.write(p_heading text) returns void language sql as $$
  select private.replace_document(
    (select id from project), '{"file_path": "a.md", "title": "Guide", "content": "text", "checksum": "1"}', 'space',
    jsonb_build_array(tests.chunks('text') -> 0 || jsonb_build_object('heading_path', array['Guide', p_heading, 'Inner']))
  );
$$;
select pg_temp.write('Former');
create temp table before on commit drop as select id from public.document_embeddings;

-- A breadcrumb that was too long was shortened in the middle: the hash is the same.
select pg_temp.write('Present');

select is((select heading_path from public.document_embeddings join before using (id)), array['Guide', 'Present', 'Inner'], 'the chunk has its new headings');
select is(
  (select array[fts @@ 'present'::tsquery, fts @@ to_tsquery('english', 'former')] from public.document_embeddings),
  array[true, false], 'a search finds only the new headings'
);

select * from finish();
rollback;
