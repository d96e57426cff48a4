-- Search by meaning and by words, and the two together.

create function private.text_weights()
returns real[]
language sql
immutable
security invoker
set search_path = ''
as $$
  select '{0.05, 0.4, 0.6, 1}'::real[];
$$;
comment on function private.text_weights() is
  'Weights for ts_rank: unused D, parts of identifiers, text, headings.';
revoke all on function private.text_weights() from public;

create function private.telling_words(
  p_project_id uuid, p_embedder text, p_words tsquery[], p_document_ids uuid[], p_most_chunks int
)
returns tsquery[]
language plpgsql
stable
security invoker
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
begin
  return (
    with sampled as materialized (
      select row_number() over () as chunk, chunk.fts
      from public.document_embeddings as chunk
      where chunk.project_id = p_project_id
        and chunk.embedder = p_embedder
        -- Hashes are spread evenly: one in 64 begins so.
        and chunk.chunk_hash >= '00' and chunk.chunk_hash < '04'
        and (p_document_ids is null or chunk.document_id = any (p_document_ids))
    ),
    hit as materialized (
      select sampled.chunk, wanted.place as word
      from unnest(p_words) with ordinality as wanted (words, place)
      join sampled on sampled.fts @@ wanted.words
    ),
    -- From the rarest word on, each adds the chunks that no rarer one has.
    rarity as materialized (
      select hit.word, row_number() over (order by count(*), hit.word) as place
      from hit
      group by hit.word
    ),
    added as (
      select rarest.place, sum(count(*)) over (order by rarest.place) as total
      from (
        select hit.chunk, min(rarity.place) as place
        from hit
        join rarity on rarity.word = hit.word
        group by hit.chunk
      ) as rarest
      group by rarest.place
    )
    select array_agg(wanted.words)
    from unnest(p_words) with ordinality as wanted (words, place)
    left join rarity on rarity.word = wanted.place
    where rarity.place is null
       or rarity.place = 1
       or not exists (select from added where added.place <= rarity.place and added.total * 64 > p_most_chunks)
  );
end;
$$;
comment on function private.telling_words(uuid, text, tsquery[], uuid[], int) is
  'The words that decide which chunks are ranked: the rarest ones, as many as some p_most_chunks chunks have, estimated from a part of the chunks. A word that half of a large project has would make every search read half of it.';
revoke all on function private.telling_words(uuid, text, tsquery[], uuid[], int) from public;

create function private.worded_chunks(
  p_project_id uuid, p_embedder text, p_words tsquery[], p_limit int, p_document_ids uuid[] default null
)
returns table (id uuid, rank real)
language plpgsql
stable
rows 200
security invoker
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
declare
  v_most_to_rank constant int := 10000;
  v_weights real[] := private.text_weights();
  v_any_word tsquery := private.any_of(p_words);
  v_telling tsquery := private.in_space(p_project_id, p_embedder, private.any_of(
    private.telling_words(p_project_id, p_embedder, p_words, p_document_ids, v_most_to_rank)
  ));
begin
  return query
    select found.id, ts_rank(v_weights, found.fts, v_any_word, 1) as rank
    from (
      select chunk.id, chunk.fts
      from public.document_embeddings as chunk
      where private.words_in_space(chunk.project_id, chunk.embedder, chunk.fts) @@ v_telling
        and (p_document_ids is null or chunk.document_id = any (p_document_ids))
      limit v_most_to_rank
    ) as found
    order by rank desc, found.id
    limit p_limit;
end;
$$;
comment on function private.worded_chunks(uuid, text, tsquery[], int, uuid[]) is
  'The p_limit chunks that answer any of the words best, pending ones included; of the documents alone, when p_document_ids is given. When more than 10000 chunks have even the rarest word, 10000 of them are ranked.';
revoke all on function private.worded_chunks(uuid, text, tsquery[], int, uuid[]) from public;

create function private.search_documents(
  p_project_id uuid,
  p_query text,
  p_query_embedding extensions.vector default null,
  p_embedder text default null,
  p_limit int default 10,
  p_path_prefix text default null
)
returns table (
  id uuid, document_id uuid, file_path text, title text, heading_path text[], anchor text, chunk_index int,
  start_line int, end_line int, content_chunk text, token_count int, commit_sha text,
  score double precision, similarity double precision, vector_rank int, text_score double precision, text_rank int,
  matched_terms text[]
)
language plpgsql
stable
rows 20
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
set jit = off
-- For all that it calls: vectors lie outside of the rows, so reading every row looks cheap, and is not.
set enable_seqscan = off
as $$
declare
  v_project public.projects := private.readable_project(p_project_id);
  v_embedder text := coalesce(v_project.embedder, 'unnamed');
  v_candidates constant int := 200;
  -- More of them find nothing better, and in an index that other projects share they cost the most.
  v_nearest constant int := 100;
  v_prefix text := nullif(regexp_replace(p_path_prefix, '^(\./|/|\.$)+', ''), '');
  v_document_ids uuid[];
  v_terms text[];
  v_words tsquery[];
  v_any_word tsquery;
  v_weights real[] := private.text_weights();
  v_is_identifier constant boolean := private.is_identifier_query(p_query);
  v_text_share double precision := case
    when p_query_embedding is null then 1
    -- A hash of the words knows no more than they do, and less well.
    when v_is_identifier or exists (
      select from public.embedders as embedder
      where embedder.name = v_embedder and embedder.model_dimensions = 0
    ) then 0.7
    else 0.5
  end;
  -- The name of a thing is asked for where it stands; a question, in the document about it.
  v_document_share constant double precision := case when v_is_identifier then 0 else 0.2 end;
  v_telling_chunks constant int := 50;
begin
  if p_query_embedding is not null and p_embedder is distinct from v_embedder then
    raise sqlstate 'PT409' using
      message = format('Cannot search project %L by a vector of embedder %L: its documents have vectors of %L',
        v_project.slug, p_embedder, v_project.embedder),
      detail = 'EMBEDDER_MISMATCH',
      hint = 'Embed the query with the embedder that projects.embedder names, and name it in p_embedder.';
  end if;
  if v_prefix is not null then
    v_document_ids := array(
      select document.id
      from public.documents as document
      where document.project_id = v_project.id and starts_with(document.file_path, v_prefix)
    );
  end if;
  select array_agg(wanted.term order by wanted.place), array_agg(wanted.words order by wanted.place)
  into v_terms, v_words
  from private.query_terms(v_project.language, p_query) with ordinality as wanted (term, words, place);
  v_any_word := private.any_of(v_words);

  return query
    with nearest as materialized (
      select found.id, 1 - found.distance as similarity,
        row_number() over (order by found.distance, found.id)::int as place
      from private.nearest_chunks(v_project.id, v_embedder, p_query_embedding, v_nearest, v_document_ids) as found
      where p_query_embedding is not null
    ),
    worded as materialized (
      select found.id, found.rank, row_number() over (order by found.rank desc, found.id)::int as place
      from private.worded_chunks(v_project.id, v_embedder, v_words, v_candidates, v_document_ids) as found
    ),
    candidate as materialized (
      select coalesce(nearest.id, worded.id) as id, nearest.similarity, nearest.place as vector_rank,
        worded.place as text_rank,
        coalesce(worded.rank, (
          select ts_rank(v_weights, chunk.fts, v_any_word, 1)
          from public.document_embeddings as chunk
          where chunk.id = nearest.id
        )) as rank,
        (
          select chunk.document_id
          from public.document_embeddings as chunk
          where chunk.id = coalesce(nearest.id, worded.id)
        ) as document_id
      from nearest
      full join worded on worded.id = nearest.id
    ),
    bound as (
      select max(candidate.similarity) as best, min(candidate.similarity) as worst, max(candidate.rank) as best_rank
      from candidate
    ),
    scored as (
      select candidate.id, candidate.document_id, candidate.vector_rank, candidate.text_rank,
        coalesce((candidate.similarity - bound.worst) / nullif(bound.best - bound.worst, 0), (candidate.vector_rank is not null)::int)
          as vector_part,
        candidate.rank / nullif(bound.best_rank, 0) as text_part
      from candidate
      cross join bound
    ),
    fused as materialized (
      select scored.*,
        (1 - v_text_share) * scored.vector_part + v_text_share * coalesce(scored.text_part, 0) as own_score,
        row_number() over (
          order by (1 - v_text_share) * scored.vector_part + v_text_share * coalesce(scored.text_part, 0) desc, scored.id
        ) as place
      from scored
    ),
    -- A document that answers in several places is the likelier one, with each place less so.
    told as (
      select fused.document_id, ln(1 + sum(fused.own_score)) as weight
      from fused
      where fused.place <= v_telling_chunks
      group by fused.document_id
    ),
    best as materialized (
      select fused.*,
        (fused.own_score + v_document_share * coalesce(told.weight, 0)) / (1 + v_document_share * ln(1 + v_telling_chunks))
          as score
      from fused
      left join told on told.document_id = fused.document_id
      order by score desc, fused.id
      limit least(greatest(coalesce(p_limit, 10), 0), v_candidates)
    )
    select chunk.id, chunk.document_id, document.file_path, document.title, chunk.heading_path, chunk.anchor,
      chunk.chunk_index, chunk.start_line, chunk.end_line, chunk.content_chunk, chunk.token_count,
      document.commit_sha, best.score,
      1 - (chunk.embedding operator(extensions.<=>) p_query_embedding), best.vector_rank,
      coalesce(best.text_part, 0)::double precision, best.text_rank,
      array(
        select wanted.term
        from unnest(v_terms, v_words) with ordinality as wanted (term, words, place)
        where chunk.fts @@ wanted.words
        order by wanted.place
      )
    from best
    join public.document_embeddings as chunk on chunk.id = best.id
    join public.documents as document on document.id = chunk.document_id
    order by best.score desc, document.file_path, chunk.chunk_index;
end;
$$;
comment on function private.search_documents(uuid, text, extensions.vector, text, int, text) is
  'See public.search_documents(). Definer: policies on the rows would keep the indexes from being used; readable_project() asks who is calling.';
revoke all on function private.search_documents(uuid, text, extensions.vector, text, int, text) from public;
grant execute on function private.search_documents(uuid, text, extensions.vector, text, int, text) to authenticated, service_role;

create function public.search_documents(
  p_project_id uuid,
  p_query text,
  p_query_embedding extensions.vector(768) default null,
  p_embedder text default null,
  p_limit int default 10,
  p_path_prefix text default null
)
returns table (
  id uuid, document_id uuid, file_path text, title text, heading_path text[], anchor text, chunk_index int,
  start_line int, end_line int, content_chunk text, token_count int, commit_sha text,
  score double precision, similarity double precision, vector_rank int, text_score double precision, text_rank int,
  matched_terms text[]
)
language sql
stable
rows 20
security invoker
set search_path = ''
as $$
  select * from private.search_documents(p_project_id, p_query, p_query_embedding, p_embedder, p_limit, p_path_prefix);
$$;
comment on function public.search_documents(uuid, text, extensions.vector, text, int, text) is
  'Chunks of a project by words and meaning, best first, at most p_limit (200). Without p_query_embedding by words alone; with it p_embedder names the embedder that made it. score from 0 to 1 mixes both parts, each scaled within this search, and what else of the document is found; similarity is the cosine; ranks are null for what one part did not find; matched_terms are the words of the query that the chunk has. Raises PROJECT_NOT_FOUND, EMBEDDER_MISMATCH or QUERY_EMBEDDING_INVALID.';
revoke all on function public.search_documents(uuid, text, extensions.vector, text, int, text) from public, anon;
grant execute on function public.search_documents(uuid, text, extensions.vector, text, int, text) to authenticated, service_role;
