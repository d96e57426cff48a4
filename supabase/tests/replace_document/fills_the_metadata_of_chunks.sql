begin;
set local search_path = public, extensions;
select plan(1);

create temp table made on commit drop as select tests.create_project('handbook') as id;
select private.replace_document((select id from made),
  '{"file_path": "guide.md", "title": "Guide", "content": "a\nb", "checksum": "1"}', 'space', jsonb_build_array(
    (tests.chunks('a') -> 0) || '{"heading_path": ["Guide", "Install"]}', (tests.chunks('b') -> 0)
  ));

select results_eq(
  'select content_chunk, metadata from public.document_embeddings order by chunk_index',
  $$ values ('a', '{"source": "markdown-split", "section": "Install"}'::jsonb), ('b', '{"source": "markdown-split"}') $$,
  'metadata contains the source of the chunk and the innermost heading above it'
);

select * from finish();
rollback;
