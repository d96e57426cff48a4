begin;
set local search_path = public, extensions;
select plan(5);

create temp table project on commit drop as select tests.create_project('docs', p_embedder => null) as id;
create temp table document on commit drop as select gen_random_uuid() as id;
insert into public.documents (id, project_id, file_path, title, content, checksum)
select document.id, project.id, 'a.md', 'A', 'text', 'sum' from document, project;
insert into public.document_embeddings (document_id, content_chunk, embedding, metadata)
select id, 'some text', tests.vector('x'), '{"source": "markdown-split"}' from document;
insert into public.document_embeddings (document_id, content_chunk, embedding)
select id, 'more text', tests.vector('y') from document;
select results_eq('select chunk_index from public.document_embeddings order by 1', array[0, 1], 'the indexes are consecutive');
select is((select count(*) from project, public.match_documents(tests.vector('x'), -1, 5, id)), 2::bigint, 'a vector search finds the chunks');
select is((select count(*) from project, public.search_documents(id, 'text')), 2::bigint, 'a full-text search finds the chunks');
grant select on document to service_role;
select tests.act_as_service();
select lives_ok($$insert into public.document_embeddings (document_id, content_chunk) select id, 'third' from document$$, 'the service role can insert a chunk');
select tests.act_as_nobody();
select is(tests.code_of('update public.projects set language = ''klingon'''), 'PROJECT_LANGUAGE_UNKNOWN', 'only languages of Postgres are accepted');

select * from finish();
rollback;
