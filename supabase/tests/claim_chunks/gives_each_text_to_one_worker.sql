begin;
set local search_path = public, extensions;
select plan(9);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, 'a.md', 'one', 'two', 'three') from project;
-- In document order, regardless of their hashes.
update private.pending_embeddings as pending set due_at = clock_timestamp();
create temp table claim on commit drop as
  select claim.* from project, private.claim_chunks(id, 'space', 2, 30) as claim;
create function pg_temp.give_back() returns int language sql as $$
  select private.return_chunks((select id from project), 'space',
    (select jsonb_agg(jsonb_build_object('chunk_hash', chunk_hash, 'epoch', epoch)) from claim));
$$;

select bag_eq(
  'select chunk_hash from claim', 'select chunk_hash from private.pending_embeddings order by seq limit 2', 'the oldest chunks come first'
);
select is((select count(*) from project, private.claim_chunks(id, 'space', 5, 30)), 1::bigint, 'a claimed chunk is not claimed again');
select is(pg_temp.give_back(), 2, 'the worker returns its claim');
select is((select max(attempts) from private.pending_embeddings), 0, 'a claim without an error does not count as an attempt');
select is((select count(*) from project, private.claim_chunks(id, 'space', 5, 30)), 2::bigint, 'returned chunks can be claimed immediately');
select is(pg_temp.give_back(), 0, 'an older claim changes nothing');
update private.pending_embeddings
set due_at = '-infinity', deliveries = case when chunk_hash = md5('two') then 2 else 0 end;
select is(
  (select array_agg(chunk_hash) from project, private.claim_chunks(id, 'space', 5, 30)), array[md5('two')],
  'a chunk whose worker died twice is claimed in a batch of its own'
);
update private.pending_embeddings set deliveries = 5, due_at = '-infinity' where chunk_hash = md5('two');
select is((select count(*) from project, private.claim_chunks(id, 'space', 5, 30)), 2::bigint, 'it fails after five deaths, and the others continue');
select is((select failed_chunks from project, public.project_freshness(id)), 1::bigint, 'the freshness reports the failure');

select * from finish();
rollback;
