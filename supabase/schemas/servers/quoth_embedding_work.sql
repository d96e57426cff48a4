-- Embedding: texts are claimed, embedded outside a transaction, and their vectors are stored.

create function private.claim_chunks(p_project_id uuid, p_embedder text, p_limit int, p_lease_seconds int)
returns table (chunk_hash text, epoch bigint, title text, embedded_text text, token_count int)
language plpgsql
set search_path = ''
as $$
declare
  v_suspect text;
begin
  update private.pending_embeddings as pending
  set failed_at = clock_timestamp(),
      error = jsonb_build_object('code', 'SYNC_DELIVERIES_EXCEEDED', 'message',
        format('The text was given out %s times and its worker ended each time', pending.deliveries))
  where pending.project_id = p_project_id and pending.embedder = p_embedder
    and pending.failed_at is null and pending.deliveries >= 5 and pending.due_at <= clock_timestamp();

  -- A text whose claim was lost twice may kill its workers, so claim it alone.
  select pending.chunk_hash into v_suspect
  from private.pending_embeddings as pending
  where pending.project_id = p_project_id and pending.embedder = p_embedder
    and pending.failed_at is null and pending.deliveries >= 2 and pending.due_at <= clock_timestamp()
  order by pending.seq
  limit 1
  for no key update skip locked;

  return query
    with due as materialized (
      select pending.chunk_hash
      from private.pending_embeddings as pending
      where pending.project_id = p_project_id
        and pending.embedder = p_embedder
        and pending.failed_at is null
        and pending.due_at <= clock_timestamp()
        and (v_suspect is null or pending.chunk_hash = v_suspect)
      order by pending.seq
      limit p_limit
      for no key update skip locked
    )
    update private.pending_embeddings as pending
    set due_at = clock_timestamp() + make_interval(secs => p_lease_seconds),
        epoch = pending.epoch + 1,
        deliveries = pending.deliveries + 1
    from due
    where pending.project_id = p_project_id
      and pending.embedder = p_embedder
      and pending.chunk_hash = due.chunk_hash
    returning pending.chunk_hash, pending.epoch, pending.title, pending.embedded_text, pending.token_count;
end;
$$;
comment on function private.claim_chunks(uuid, text, int, int) is
  'Claims up to p_limit texts that wait for a vector, oldest first, for p_lease_seconds. record_embeddings() or return_chunks() ends the claim, else it ends with the lease. A text whose workers died is claimed alone, and fails after five deliveries. Called by the sync.';

create function private.record_embeddings(p_project_id uuid, p_embedder text, p_embeddings jsonb)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_hashes text[] := array(
    select entry ->> 'chunk_hash' from jsonb_array_elements(p_embeddings) as entry
  );
  v_count int;
begin
  -- Serializes with a concurrent write of a document with such a text, so that none of its chunks stays
  -- without both a vector and pending work.
  perform private.lock_pending(p_project_id, p_embedder, v_hashes);

  update public.document_embeddings as chunk
  set embedding = (entry.value ->> 'embedding')::extensions.vector
  from jsonb_array_elements(p_embeddings) as entry (value)
  where chunk.project_id = p_project_id
    and chunk.embedder = p_embedder
    and chunk.chunk_hash = entry.value ->> 'chunk_hash'
    and chunk.embedding is null;
  get diagnostics v_count = row_count;

  delete from private.pending_embeddings as pending
  where pending.project_id = p_project_id and pending.embedder = p_embedder and pending.chunk_hash = any (v_hashes);
  return v_count;
end;
$$;
comment on function private.record_embeddings(uuid, text, jsonb) is
  'Stores vectors [{chunk_hash, embedding: [768 numbers]}] in every chunk of the project that waits for one of them, and returns the number of chunks. Does not check an epoch: equal texts have equal vectors, whichever worker sends them. Called by the sync.';

create function private.return_chunks(
  p_project_id uuid, p_embedder text, p_claims jsonb, p_error jsonb default null, p_retry_after_ms bigint default 0
)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  perform private.lock_pending(p_project_id, p_embedder, array(
    select claim ->> 'chunk_hash' from jsonb_array_elements(p_claims) as claim
  ));
  update private.pending_embeddings as pending
  set deliveries = 0,
      due_at = clock_timestamp() + make_interval(secs => p_retry_after_ms / 1000.0),
      attempts = pending.attempts + case when p_error is null then 0 else 1 end,
      error = coalesce(p_error, pending.error),
      failed_at = case when p_error is not null and pending.attempts + 1 >= 5 then clock_timestamp() end
  from jsonb_to_recordset(p_claims) as claim (chunk_hash text, epoch bigint)
  where pending.project_id = p_project_id
    and pending.embedder = p_embedder
    and pending.chunk_hash = claim.chunk_hash
    and pending.epoch = claim.epoch
    and pending.failed_at is null;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.return_chunks(uuid, text, jsonb, jsonb, bigint) is
  'Ends claims [{chunk_hash, epoch}] without a vector; the texts are due again after p_retry_after_ms. With p_error {code, message, hint} it counts as a refusal, and the fifth refusal fails the text; without it, as for a rate limit or a worker that stops, nothing is counted. Returns how many claims were still held. Called by the sync.';

create function private.requeue_failed_chunks(p_project_id uuid)
returns int
language plpgsql
set search_path = ''
as $$
declare
  v_count int;
begin
  update private.pending_embeddings
  set failed_at = null, attempts = 0, deliveries = 0, due_at = clock_timestamp()
  where project_id = p_project_id and failed_at is not null;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
comment on function private.requeue_failed_chunks(uuid) is
  'Makes the failed texts of a project due again; returns how many. For operators, and for a requested sync.';

create function private.embedding_backlog()
returns table (project_id uuid, embedder text, pending_count bigint, due_count bigint, oldest_due_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select pending.project_id, pending.embedder, count(*),
    count(*) filter (where pending.due_at <= clock_timestamp()), min(pending.due_at)
  from private.pending_embeddings as pending
  where pending.failed_at is null
  group by 1, 2
  order by min(pending.seq);
$$;
comment on function private.embedding_backlog() is
  'Projects and embedders with texts that wait for vectors, and how many can be claimed now; those waiting longest first.';
