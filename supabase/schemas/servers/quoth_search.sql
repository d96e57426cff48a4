-- Search by vector, by words, and by both together.

create function private.text_weights()
returns real[]
language sql
immutable
set search_path = ''
as $$
  select '{0.05, 0.4, 0.6, 1}'::real[];
$$;
comment on function private.text_weights() is
  'Weights for ts_rank: D (unused), parts of identifiers, text, headings.';

create function private.distinctive_words(
  p_project_id uuid, p_embedder text, p_words tsquery[], p_document_ids uuid[], p_most_chunks int
)
returns tsquery[]
language plpgsql
stable
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
        -- A sample: hashes are evenly distributed, and one in 64 is in this range.
        and chunk.chunk_hash >= '00' and chunk.chunk_hash < '04'
        and (p_document_ids is null or chunk.document_id = any (p_document_ids))
    ),
    hit as materialized (
      select sampled.chunk, wanted.place as word
      from unnest(p_words) with ordinality as wanted (words, place)
      join sampled on sampled.fts @@ wanted.words
    ),
    -- From the rarest word on, each word adds the chunks that no rarer word has.
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
comment on function private.distinctive_words(uuid, text, tsquery[], uuid[], int) is
  'The words that decide which chunks are ranked: the rarest words that together match about p_most_chunks chunks, estimated from a sample. A word in half of a large project''s chunks would make every search read half of the project.';

create function private.worded_chunks(
  p_project_id uuid, p_embedder text, p_words tsquery[], p_limit int, p_document_ids uuid[] default null,
  p_of_each int default 0
)
returns table (id uuid, rank real)
language plpgsql
stable
rows 200
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
declare
  v_most_to_rank constant int := 10000;
  v_weights real[] := private.text_weights();
  v_any_word tsquery := private.any_of(p_words);
  v_telling tsquery := private.in_space(p_project_id, p_embedder, private.any_of(
    private.distinctive_words(p_project_id, p_embedder, p_words, p_document_ids, v_most_to_rank)
  ));
begin
  return query
    with ranked as materialized (
      select found.id, found.document_id, ts_rank(v_weights, found.fts, v_any_word, 1) as rank
      from (
        select chunk.id, chunk.document_id, chunk.fts
        from public.document_embeddings as chunk
        where private.words_in_space(chunk.project_id, chunk.embedder, chunk.fts) @@ v_telling
          and (p_document_ids is null or chunk.document_id = any (p_document_ids))
        limit v_most_to_rank
      ) as found
    ),
    within_document as (
      select ranked.id, ranked.rank,
        row_number() over (partition by ranked.document_id order by ranked.rank desc, ranked.id) as place
      from ranked
    )
    (
      select ranked.id, ranked.rank
      from ranked
      order by ranked.rank desc, ranked.id
      limit p_limit
    )
    union
    (
      select within_document.id, within_document.rank
      from within_document
      where within_document.place <= p_of_each
      order by within_document.rank desc, within_document.id
      limit p_limit
    )
    order by rank desc, id;
end;
$$;
comment on function private.worded_chunks(uuid, text, tsquery[], int, uuid[], int) is
  'The p_limit best chunks that match any of the words, including pending ones, and also the p_of_each best of each document, up to p_limit of these, so that a few long documents do not take all places. Limited to p_document_ids when given. When more than 10000 chunks match even the rarest word, only 10000 of them are ranked.';

create function private.candidate_chunks(
  p_project_id uuid, p_embedder text, p_query_embedding extensions.vector, p_words tsquery[], p_document_ids uuid[]
)
returns table (
  id uuid, document_id uuid, chunk_index int, similarity double precision, vector_rank int, rank real, text_rank int
)
language plpgsql
stable
rows 300
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
declare
  v_worded constant int := 200;
  -- As many as the neighboring chunks that an answer may join.
  v_of_each constant int := 2;
  -- More do not improve the results, and cost the most in an index shared with other projects.
  v_nearest constant int := 100;
  v_weights real[] := private.text_weights();
  v_any_word tsquery := private.any_of(p_words);
begin
  return query
    with nearest as materialized (
      select found.id, 1 - found.distance as similarity,
        row_number() over (order by found.distance, found.id)::int as place
      from private.nearest_chunks(p_project_id, p_embedder, p_query_embedding, v_nearest, p_document_ids) as found
      where p_query_embedding is not null
    ),
    worded as materialized (
      select found.id, found.rank, row_number() over (order by found.rank desc, found.id)::int as place
      from private.worded_chunks(p_project_id, p_embedder, p_words, v_worded, p_document_ids, v_of_each) as found
    ),
    found as materialized (
      select coalesce(nearest.id, worded.id) as id, nearest.similarity, nearest.place as vector_rank,
        worded.rank, worded.place as text_rank
      from nearest
      full join worded on worded.id = nearest.id
    )
    select chunk.id, chunk.document_id, chunk.chunk_index, found.similarity, found.vector_rank,
      coalesce(found.rank, ts_rank(v_weights, chunk.fts, v_any_word, 1)), found.text_rank
    from found
    join public.document_embeddings as chunk on chunk.id = found.id;
end;
$$;
comment on function private.candidate_chunks(uuid, text, extensions.vector, tsquery[], uuid[]) is
  'The candidates of a search: the nearest chunks by vector, if there is one, and the best by words. similarity and the ranks are null for what one of the two did not find.';

create function private.scored_chunks(
  p_project_id uuid, p_embedder text, p_query_embedding extensions.vector, p_words tsquery[], p_document_ids uuid[],
  p_text_share double precision, p_document_share double precision
)
returns table (
  id uuid, document_id uuid, chunk_index int, score double precision, vector_rank int, text_part real, text_rank int
)
language plpgsql
stable
rows 300
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
declare
  v_telling_chunks constant int := 50;
begin
  return query
    with candidate as materialized (
      select found.*
      from private.candidate_chunks(p_project_id, p_embedder, p_query_embedding, p_words, p_document_ids) as found
    ),
    bound as (
      select max(candidate.similarity) as best, min(candidate.similarity) as worst, max(candidate.rank) as best_rank
      from candidate
    ),
    scaled as (
      select candidate.*,
        coalesce((candidate.similarity - bound.worst) / nullif(bound.best - bound.worst, 0), (candidate.vector_rank is not null)::int)
          as vector_part,
        candidate.rank / nullif(bound.best_rank, 0) as text_part
      from candidate
      cross join bound
    ),
    fused as (
      select scaled.*,
        (1 - p_text_share) * scaled.vector_part + p_text_share * coalesce(scaled.text_part, 0) as own_score
      from scaled
    ),
    placed as materialized (
      select fused.*, row_number() over (order by fused.own_score desc, fused.id) as place
      from fused
    ),
    -- A document with several matching places is more likely to be relevant, with decreasing effect of each place.
    document_weights as (
      select placed.document_id, ln(1 + sum(placed.own_score)) as weight
      from placed
      where placed.place <= v_telling_chunks
      group by placed.document_id
    )
    select placed.id, placed.document_id, placed.chunk_index,
      (placed.own_score + p_document_share * coalesce(document_weights.weight, 0)) / (1 + p_document_share * ln(1 + v_telling_chunks)),
      placed.vector_rank, placed.text_part, placed.text_rank
    from placed
    left join document_weights on document_weights.document_id = placed.document_id;
end;
$$;
comment on function private.scored_chunks(uuid, text, extensions.vector, tsquery[], uuid[], double precision, double precision) is
  'The candidates of a search with scores from 0 to 1: p_text_share of a score comes from words and the rest from the vector, each scaled within the search; p_document_share is the weight of the document''s other chunks. text_part is the ratio to the best rank by words.';

create function private.search_documents(
  p_project_id uuid,
  p_query text,
  p_query_embedding extensions.vector default null,
  p_embedder text default null,
  p_limit int default 10,
  p_path_prefix text default null,
  p_per_document int default null
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
  v_most_found constant int := 200;
  v_prefix text := nullif(regexp_replace(p_path_prefix, '^(\./|/|\.$)+', ''), '');
  v_document_ids uuid[];
  v_terms text[];
  v_words tsquery[];
  v_is_identifier constant boolean := private.is_identifier_query(p_query);
  v_text_share constant double precision := case
    when p_query_embedding is null then 1
    -- A hash vector has no more information than the words, and is less exact.
    when v_is_identifier or exists (
      select from public.embedders as embedder
      where embedder.name = v_embedder and embedder.model_dimensions = 0
    ) then 0.7
    else 0.5
  end;
  -- A search for an identifier looks for its exact place; a question looks for a document about its subject.
  v_document_share constant double precision := case when v_is_identifier then 0 else 0.2 end;
begin
  if p_query_embedding is not null and p_embedder is distinct from v_embedder then
    perform private.raise_error('EMBEDDER_MISMATCH',
      format('Cannot search project %L by a vector of embedder %L: its documents have vectors of %L',
        v_project.slug, p_embedder, v_project.embedder),
      'Embed the query with the embedder that projects.embedder names, and name it in p_embedder.');
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

  return query
    with placed as (
      select scored.*,
        row_number() over (partition by scored.document_id order by scored.score desc, scored.chunk_index) as place
      from private.scored_chunks(
        v_project.id, v_embedder, p_query_embedding, v_words, v_document_ids, v_text_share, v_document_share
      ) as scored
    ),
    best as materialized (
      select placed.*
      from placed
      where p_per_document is null or placed.place <= p_per_document
      order by placed.score desc, placed.id
      limit least(greatest(coalesce(p_limit, 10), 0), v_most_found)
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
comment on function private.search_documents(uuid, text, extensions.vector, text, int, text, int) is
  'See public.search_documents(). Definer: row policies would prevent the use of the indexes; readable_project() checks the caller.';

create function public.search_documents(
  p_project_id uuid,
  p_query text,
  p_query_embedding extensions.vector(768) default null,
  p_embedder text default null,
  p_limit int default 10,
  p_path_prefix text default null,
  p_per_document int default null
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
set search_path = ''
as $$
  select * from private.search_documents(p_project_id, p_query, p_query_embedding, p_embedder, p_limit, p_path_prefix, p_per_document);
$$;
comment on function public.search_documents(uuid, text, extensions.vector, text, int, text, int) is
  'Chunks of a project by words and meaning, best first: at most p_limit (200), and at most p_per_document of one document when given. Without p_query_embedding, by words only; with it, p_embedder names the embedder that created it. score, from 0 to 1, combines both parts, each scaled within this search, and the document''s other hits. similarity is the cosine similarity. Ranks are null for what one part did not find. matched_terms are the words of the query that the chunk contains. Raises PROJECT_NOT_FOUND, EMBEDDER_MISMATCH or QUERY_EMBEDDING_INVALID.';
revoke all on function public.search_documents(uuid, text, extensions.vector, text, int, text, int) from public, anon, authenticated, service_role;
grant execute on function
  private.search_documents(uuid, text, extensions.vector, text, int, text, int),
  public.search_documents(uuid, text, extensions.vector, text, int, text, int)
  to authenticated, service_role;
