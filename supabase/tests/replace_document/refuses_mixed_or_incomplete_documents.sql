begin;
set local search_path = public, extensions;
select plan(6);

create temp table project on commit drop as select tests.create_project('docs', p_embedder => null) as id;
create function pg_temp.replace(p_document jsonb, p_embedder text, p_chunks jsonb) returns text language sql as $$
  select tests.code_of(format('select private.replace_document(%L, %L, %L, %L)', (select id from project), p_document, p_embedder, p_chunks));
$$;
create temp table document on commit drop as
  select '{"file_path": "a.md", "title": "A", "content": "text", "checksum": "1"}'::jsonb as value;

select is((select pg_temp.replace(value, 'first', tests.chunks('text')) from document), 'none', 'the first document is stored');
select is((select embedder from public.projects), 'first', 'the first document sets the embedder');
select is((select pg_temp.replace(value, 'second', tests.chunks('text')) from document), 'EMBEDDER_MISMATCH', 'another embedder is refused');
select is((select pg_temp.replace(value - 'title', 'first', '[]') from document), 'DOCUMENT_INVALID', 'a document without a title is refused');
select is((select pg_temp.replace(value, 'first', '[{"content": "text"}]') from document), 'DOCUMENT_INVALID', 'a chunk without lines is refused');
select is(
  (select tests.code_of(format('select private.replace_document(%L, %L, ''first'', ''[]'')', gen_random_uuid(), value)) from document),
  'PROJECT_NOT_FOUND', 'a deleted project is not found'
);

select * from finish();
rollback;
