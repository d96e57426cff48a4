begin;
set local search_path = public, extensions;
select plan(4);

create temp table project on commit drop as select tests.create_project('docs', p_embedder => null) as id;
create temp table document on commit drop as select gen_random_uuid() as id;
insert into public.documents (id, project_id, file_path, title, content, checksum)
select document.id, project.id, 'a.md', 'A', 'text', 'sum' from document, project;
insert into public.document_embeddings (document_id, content_chunk, embedding, metadata)
select id, 'some text', tests.vector('x'), '{"source": "markdown-split"}' from document;
insert into public.document_embeddings (document_id, content_chunk, embedding)
select id, 'more text', tests.vector('y') from document;
select results_eq('select chunk_index from public.document_embeddings order by 1', array[0, 1], 'they follow each other');
select is((select count(*) from project, public.match_documents(tests.vector('x'), -1, 5, id)), 2::bigint, 'a vector finds them');
select is((select count(*) from project, public.search_documents(id, 'text')), 2::bigint, 'and a word');
select is(tests.code_of('update public.projects set language = ''klingon'''), 'PROJECT_LANGUAGE_UNKNOWN', 'no language but those of Postgres');

select * from finish();
rollback;
