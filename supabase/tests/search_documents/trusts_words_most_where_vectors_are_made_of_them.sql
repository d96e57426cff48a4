begin;
set local search_path = public, extensions;
select plan(2);

create temp table project on commit drop as
  select embedder, tests.create_project(slug, 'owner', embedder) as id
  from (values ('model', 'space'), ('hash', 'hash768@1')) as entry (slug, embedder);
select tests.write_document(id, 'a.md', 'Deploying', 'Nothing of interest') from project;
select tests.embed(id) from project;
create function pg_temp.best(p_embedder text) returns table (content_chunk text, score numeric) language sql as $$
  select content_chunk, round(score::numeric, 2)
  from project, public.search_documents(id, 'deploy', tests.vector('Nothing of interest'), embedder, 1)
  where embedder = p_embedder;
$$;

select results_eq($$select * from pg_temp.best('space')$$, $$values ('Nothing of interest', 0.60)$$, 'a model''s nearest goes first');
select results_eq($$select * from pg_temp.best('hash768@1')$$, $$values ('Deploying', 0.70)$$, 'a hash''s nearest does not');

select * from finish();
rollback;
