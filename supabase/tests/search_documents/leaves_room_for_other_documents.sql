begin;
set local search_path = public, extensions;
select plan(5);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, format('long-%s.md', n), variadic array(
    select format('kettle section %s of %s', section, n) from generate_series(1, 120) as section
  ))
from project, generate_series(1, 3) as n;
select tests.write_document(
    id, format('note-%s.md', n), 'A note that says much else of other things, and only at its very end mentions some kettle',
    'Longer texts rank lower: words enough, water, fire, steam, a kettle'
  )
from project, generate_series(1, 20) as n;
create function pg_temp.search(p_limit int, p_per_document int default null)
returns table (file_path text, content_chunk text, score double precision) language sql as $$
  select file_path, content_chunk, score
  from project, public.search_documents(id, 'kettle', p_limit => p_limit, p_per_document => p_per_document);
$$;

select results_eq(
  $$select count(*), count(distinct file_path) from pg_temp.search(46, 2)$$, $$values (46::bigint, 23::bigint)$$,
  'two chunks of each matching document'
);
select is(
  (select max(count) from (select count(*) from pg_temp.search(200, 1) group by file_path) as file), 1::bigint,
  'one chunk of each document'
);
select is(
  (select count(distinct content_chunk) from pg_temp.search(200, 1) where file_path like 'note-%'), 1::bigint,
  'the better of both matches'
);
select is((select count(*) from pg_temp.search(10)), 10::bigint, 'the limit is respected');
select results_eq(
  $$select score from pg_temp.search(1)$$, $$select score from pg_temp.search(1, 2)$$, 'the best score does not depend on the limit'
);

select * from finish();
rollback;
