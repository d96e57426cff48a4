begin;
set local search_path = public, extensions;
select plan(13);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.create_user('stranger');
select tests.write_document(id, 'guide/deploy.md', 'Deploying functions with Deno.serve to the edge', 'Nothing of interest'),
  tests.write_document(id, 'api/read.md', 'Permissions of the runtime: --allow-read'),
  tests.write_document(id, '.github/security.md', 'Whom to tell of a weakness') from project;
select tests.embed((select id from project));
create function pg_temp.search(p_query text, p_vector extensions.vector default null, p_prefix text default null)
returns table (file_path text, content_chunk text, vector_rank int, text_rank int, matched_terms text[]) language sql as $$
  select file_path, content_chunk, vector_rank, text_rank, matched_terms
  from project, public.search_documents(id, p_query, p_vector, 'space', 10, p_prefix);
$$;

select results_eq(
  $$select file_path, vector_rank, text_rank, matched_terms from pg_temp.search('How do I deploy a function?')$$,
  $$values ('guide/deploy.md', null::int, 1, array['deploy', 'function'])$$, 'full-text search finds stemmed words and names them'
);
select results_eq($$select file_path from pg_temp.search('serve')$$, $$values ('guide/deploy.md')$$, 'a part of an identifier matches');
select results_eq($$select file_path from pg_temp.search('allow-read')$$, $$values ('api/read.md')$$, 'a command-line flag matches');
select results_eq(
  $$select content_chunk, vector_rank, text_rank from pg_temp.search('unheard', tests.vector('Nothing of interest')) limit 1$$,
  $$values ('Nothing of interest', 1, null::int)$$, 'vector search finds chunks when no word matches'
);
select is((select count(*) from pg_temp.search('deploy permissions', tests.vector('x'))), 4::bigint, 'both results form one list');
select results_eq(
  $$select file_path from pg_temp.search('runtime functions', tests.vector('x'), '/api/')$$, $$values ('api/read.md')$$, 'a folder limits the search'
);
select results_eq(
  $$select file_path
  from (values ('.github/'), ('./.github/'), ('/.github/sec')) as wanted (prefix)
  cross join lateral pg_temp.search('runtime weakness', tests.vector('x'), wanted.prefix)$$,
  $$select '.github/security.md' from generate_series(1, 3)$$, 'a folder whose name begins with a dot can be given'
);
select is_empty($$select * from pg_temp.search('weakness', null, 'github/')$$, 'the same name without the dot is another folder');
select results_eq(
  $$select file_path from (values ('./'), ('.'), ('/')) as root (prefix) cross join lateral pg_temp.search('weakness', null, root.prefix)$$,
  $$select '.github/security.md' from generate_series(1, 3)$$, 'the root includes everything'
);
select is_empty($$select * from pg_temp.search('!!! '' & | :* \ ')$$, 'punctuation yields no results and no error');
select is(
  (select tests.code_of(format('select * from public.search_documents(%L, ''x'', %L, ''another'')', id, tests.vector('x'))) from project),
  'EMBEDDER_MISMATCH', 'a vector of another embedder is refused'
);
update public.projects set language = 'spanish';
select results_eq(
  $$select matched_terms from pg_temp.search('function permissions')$$, $$values (array['permissions'])$$,
  'another language stems documents and queries differently'
);
create temp table call on commit drop as
  select format('select * from public.search_documents(%L, ''deploy'')', id) as text from project;
grant select on call to authenticated;
select tests.act_as_user('stranger');
select is(tests.code_of((select text from call)), 'PROJECT_NOT_FOUND', 'a stranger learns nothing');
select tests.act_as_nobody();

select * from finish();
rollback;
