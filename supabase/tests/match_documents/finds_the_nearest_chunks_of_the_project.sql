begin;
set local search_path = public, extensions;
select plan(9);

create temp table project on commit drop as
  select tests.create_project('docs') as id, tests.create_project('other', 'stranger') as other_id, tests.vector('', 1) as query;
grant select on project to authenticated, service_role;
select tests.write_document(id, 'a.md', 'one', 'two', 'three', 'pending'), tests.write_document(other_id, 'a.md', 'one') from project;
select tests.embed(id), tests.embed(other_id) from project;
update public.document_embeddings set embedding = tests.vector('x', 1.0 / (2 + chunk_index));
update public.document_embeddings set embedding = null where content_chunk = 'pending';
create function pg_temp.match(p_threshold double precision, p_count int) returns setof text language sql as $$
  select content_chunk from project, public.match_documents(query, p_threshold, p_count, id);
$$;

select results_eq('select pg_temp.match(-1, 10)', array['one', 'two', 'three'], 'the nearest comes first, and pending chunks are excluded');
select results_eq('select pg_temp.match(-1, 2)', array['one', 'two'], 'the limit is respected');
select results_eq('select pg_temp.match(0.5, 10)', array['one'], 'the threshold is respected');
select is(
  (select round(similarity::numeric, 3) from project, public.match_documents(query, 0.5, 1, id)), 0.707, 'similarity is the cosine'
);
update public.document_embeddings set embedder = 'next' where content_chunk = 'one';
select results_eq('select pg_temp.match(-1, 10)', array['two', 'three'], 'vectors of another embedder are not compared');
select is(
  (select tests.code_of(format('select * from public.match_documents(''[1,2]'', 0, 1, %L)', id)) from project),
  'QUERY_EMBEDDING_INVALID', 'vectors of another length are refused'
);
select tests.act_as_user('owner');
select results_eq('select pg_temp.match(-1, 10)', array['two', 'three'], 'a member finds the same chunks');
select tests.act_as_user('stranger');
select is_empty('select pg_temp.match(-1, 10)', 'a stranger finds nothing');
select tests.act_as_service();
select results_eq('select pg_temp.match(-1, 10)', array['two', 'three'], 'the service finds everything');
select tests.act_as_nobody();

select * from finish();
rollback;
