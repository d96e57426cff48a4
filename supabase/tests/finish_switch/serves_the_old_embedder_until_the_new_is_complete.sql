begin;
set local search_path = public, extensions;
select plan(13);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, 'a.md', 'one', 'two'), tests.write_document(id, 'b.md', 'three') from project;
select tests.embed((select id from project));

select is(tests.code_of('update public.projects set embedder = ''next'''), 'EMBEDDER_MISMATCH', 'an embedder without vectors cannot serve');
update public.projects set next_embedder = 'next';
select is((select count(*) from project, private.documents_to_chunk(id, 10)), 2::bigint, 'every document is to be split');
select is((
  select count(private.add_chunks(document_id, content_hash, 'next', tests.chunks(content)))
  from project, private.documents_to_chunk(id, 1)
), 1::bigint, 'one is');
select is((select private.finish_switch(id) from project), false, 'half is not enough');
select is(tests.code_of('update public.projects set embedder = ''next'', next_embedder = null'), 'SWITCH_INCOMPLETE', 'not by hand either');
select is(
  (select array_agg(distinct vector_rank is not null) from project, public.search_documents(id, 'one', tests.vector('one'), 'space')),
  array[true], 'the old one serves'
);
select is(
  (select private.add_chunks(document_id, 'another', 'next', '[]') from project, private.documents_to_chunk(id, 1)), null,
  'a document that changed meanwhile is refused'
);
select is((
  select count(private.add_chunks(document_id, content_hash, 'next', tests.chunks(content)))
  from project, private.documents_to_chunk(id, 10)
), 1::bigint, 'the rest is split');
select is((select private.finish_switch(id) from project), false, 'vectors are missing');
select tests.embed((select id from project));
select is((select is_complete from project, private.switch_progress(id)), true, 'now it is complete');
select is(private.finish_switches(), 1, 'and switches');
select results_eq('select distinct embedder from public.document_embeddings', $$values ('next')$$, 'the old vectors are gone');
select results_eq('select embedder, next_embedder from public.projects', $$values ('next', null::text)$$, 'the new one serves');

select * from finish();
rollback;
