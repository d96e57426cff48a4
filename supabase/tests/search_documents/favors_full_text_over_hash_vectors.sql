begin;
set local search_path = public, extensions;
select plan(2);

create temp table project on commit drop as
  select embedder, tests.create_project(slug, 'owner', embedder) as id
  from (values ('model', 'space'), ('hash', 'hash768@1')) as entry (slug, embedder);
select tests.write_document(id, 'a.md', 'Deploying', 'Nothing of interest') from project;
select tests.embed(id) from project;
create function pg_temp.lead_of_words(p_embedder text) returns numeric language sql as $$
  select sum(case content_chunk when 'Deploying' then score else -score end)::numeric
  from project, public.search_documents(id, 'deploy', tests.vector('Nothing of interest'), embedder, 2)
  where embedder = p_embedder;
$$;

select is(round(pg_temp.lead_of_words('space'), 6), 0.000000, 'with a model, the nearest chunk counts as much as the matching words');
select cmp_ok(pg_temp.lead_of_words('hash768@1'), '>', 0.2, 'with a word hash, the nearest chunk counts less');

select * from finish();
rollback;
