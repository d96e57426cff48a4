begin;
set local search_path = public, extensions;
select plan(5);

create temp table project on commit drop as
  select tests.create_project('docs') as id, tests.create_project('other') as other_id;
select tests.write_document(id, 'a.md', 'same'), tests.write_document(id, 'b.md', 'same'), tests.write_document(other_id, 'a.md', 'same')
from project;
create function pg_temp.store(p_vector text) returns int language sql as $$
  select private.record_embeddings(id, 'space', jsonb_build_array(jsonb_build_object(
    'chunk_hash', md5('same'), 'embedding', p_vector::jsonb))) from project;
$$;
select is(pg_temp.store(tests.vector('same')::text), 2, 'both documents get the vector');
select is((select count(*) from public.document_embeddings where embedding is null), 1::bigint, 'another project does not');
select is((select count(*) from private.pending_embeddings), 1::bigint, 'the other project''s text is still pending');
select is(pg_temp.store(tests.vector('late')::text), 0, 'a late second answer changes nothing');
update public.document_embeddings set embedding = null;
select is(tests.code_of('select pg_temp.store(''[1, 2]'')'), '22000', 'a vector of another length is refused');

select * from finish();
rollback;
