begin;
set local search_path = public, extensions;
select plan(4);

create temp table project on commit drop as select tests.create_project('docs') as id;
select tests.write_document(id, 'a.md', 'poison', 'good') from project;
do $$
begin
  for attempt in 1..5 loop
    perform private.return_chunks(id, 'space', (
      select jsonb_agg(jsonb_build_object('chunk_hash', chunk_hash, 'epoch', epoch))
      from private.claim_chunks(id, 'space', 10, 30) where chunk_hash = md5('poison')
    ), '{"code": "EMBEDDER_TEXT_REFUSED"}') from project;
    update private.pending_embeddings set due_at = '-infinity', deliveries = 0;
  end loop;
end $$;
select is((select error ->> 'code' from private.pending_embeddings where failed_at is not null), 'EMBEDDER_TEXT_REFUSED', 'the fifth refusal fails the chunk');
select tests.embed((select id from project));
select results_eq(
  'select pending_chunks, failed_chunks from project, public.project_freshness(id)', 'values (0::bigint, 1::bigint)',
  'the neighboring chunks are embedded'
);
select is((select private.requeue_failed_chunks(id) from project), 1, 'an operator can requeue it');
select results_eq(
  'select pending_chunks, failed_chunks from project, public.project_freshness(id)', 'values (1::bigint, 0::bigint)',
  'the chunk is pending'
);

select * from finish();
rollback;
