begin;
set local search_path = public, extensions;
select plan(13);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, 'a.md', 'one', 'two'), tests.write_document(id, 'b.md', 'three') from project;
select tests.embed((select id from project));

select is(tests.code_of('update public.projects set embedder = ''next'''), 'EMBEDDER_MISMATCH', 'an embedder without vectors cannot serve');
update public.projects set next_embedder = 'next';
select is((select count(*) from project, private.documents_to_chunk(id, 10)), 2::bigint, 'every document is due');
select is((
  select count(private.add_chunks(document_id, content_hash, 'next', tests.chunks(content)))
  from project, private.documents_to_chunk(id, 1)
), 1::bigint, 'one document is split');
select is((select private.finish_switch(id) from project), false, 'a half-finished switch does not complete');
select is(tests.code_of('update public.projects set embedder = ''next'', next_embedder = null'), 'SWITCH_INCOMPLETE', 'a manual update cannot complete it either');
select is(
  (select array_agg(distinct vector_rank is not null) from project, public.search_documents(id, 'one', tests.vector('one'), 'space')),
  array[true], 'the old embedder serves'
);
select is(
  (select private.add_chunks(document_id, 'another', 'next', '[]') from project, private.documents_to_chunk(id, 1)), null,
  'a document that changed in the meantime is refused'
);
select is((
  select count(private.add_chunks(document_id, content_hash, 'next', tests.chunks(content)))
  from project, private.documents_to_chunk(id, 10)
), 1::bigint, 'the rest is split');
select is((select private.finish_switch(id) from project), false, 'the switch does not complete without all vectors');
select tests.embed((select id from project));
select is((select is_complete from project, private.switch_progress(id)), true, 'the switch is complete');
select is(private.finish_switches(), 1, 'the switch completes');
select results_eq('select distinct embedder from public.document_embeddings', $$values ('next')$$, 'the old vectors are deleted');
select results_eq('select embedder, next_embedder from public.projects', $$values ('next', null::text)$$, 'the new embedder serves');

select * from finish();
rollback;
