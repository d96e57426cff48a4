begin;
set local search_path = public, extensions;
select plan(3);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, 'a.md', 'one') from project;
update public.projects set next_embedder = 'next';
select private.add_chunks(document_id, content_hash, 'next', tests.chunks(content)) from project, private.documents_to_chunk(id, 10);
select tests.write_document(id, 'a.md', 'changed') from project;
select is((select count(*) from project, private.documents_to_chunk(id, 10)), 1::bigint, 'a changed document is due again');
update public.projects set next_embedder = null;
select results_eq('select distinct embedder from public.document_embeddings', $$values ('space')$$, 'its chunks are deleted');
select results_eq('select distinct embedder from private.pending_embeddings', $$values ('space')$$, 'its pending texts are deleted');

select * from finish();
rollback;
