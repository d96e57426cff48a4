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

create function private.telling_lexemes(p_project_id uuid, p_embedder text, p_lexemes text[])
returns text[]
language plpgsql
stable
security invoker
set search_path = ''
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
  v_chunks_to_rank constant int := 5000;
  v_lexeme text;
  v_counted jsonb := '[]'::jsonb;
begin
  if not exists (
    select from public.document_embeddings as chunk
    where chunk.project_id = p_project_id and chunk.embedder = p_embedder
    offset v_chunks_to_rank
  ) then
    return p_lexemes;
  end if;
  foreach v_lexeme in array p_lexemes loop
    v_counted := v_counted || jsonb_build_object('lexeme', v_lexeme, 'count', (
      select count(*)
      from (
        select from public.document_embeddings as chunk
        where chunk.project_id = p_project_id
          and chunk.embedder = p_embedder
          and chunk.fts @@ private.any_of(array[v_lexeme])
        limit v_chunks_to_rank + 1
      ) as found
    ));
  end loop;
  return (
    select array_agg(counted.lexeme)
    from (
      select lexeme, sum(count) over (order by count, lexeme) as total, row_number() over (order by count, lexeme) as place
      from jsonb_to_recordset(v_counted) as entry (lexeme text, count int)
      where count > 0
    ) as counted
    where counted.total <= v_chunks_to_rank or counted.place = 1
  );
end;
$$;
comment on function private.telling_lexemes(uuid, text, text[]) is
  'The rarest of a query''s lexemes, as many as some 5000 chunks have, at least one: in a large project only those decide which chunks are ranked, since a word that half of them have would make every search read half of the project. All of them in a project of up to 5000 chunks.';
revoke all on function private.telling_lexemes(uuid, text, text[]) from public;

create function private.worded_chunks(
  p_project_id uuid, p_embedder text, p_lexemes text[], p_limit int, p_path_prefix text default null
)
returns table (id uuid, rank real)
language plpgsql
stable
security invoker
set search_path = ''
set plan_cache_mode = force_custom_plan
set jit = off
-- The index by words has to serve: vectors lie outside of the rows, and reading all rows looks cheap.
set enable_seqscan = off
as $$
declare
  v_most_to_rank constant int := 10000;
  v_weights real[] := private.text_weights();
  v_words tsquery := private.any_of(p_lexemes);
  v_telling tsquery := private.any_of(private.telling_lexemes(p_project_id, p_embedder, p_lexemes));
begin
  return query
    with found as materialized (
      select chunk.id, chunk.fts
      from public.document_embeddings as chunk
      where chunk.project_id = p_project_id
        and chunk.embedder = p_embedder
        and chunk.fts @@ v_telling
        and (
          p_path_prefix is null
          or chunk.document_id in (
            select document.id
            from public.documents as document
            where document.project_id = p_project_id and starts_with(document.file_path, p_path_prefix)
          )
        )
      limit v_most_to_rank
    )
    select found.id, ts_rank(v_weights, found.fts, v_words, 1) as rank
    from found
    order by rank desc, found.id
    limit p_limit;
end;
$$;
comment on function private.worded_chunks(uuid, text, text[], int, text) is
  'The p_limit chunks that answer words best, pending ones included. When more than 10000 chunks have even the rarest word, some 10000 of them are ranked.';
revoke all on function private.worded_chunks(uuid, text, text[], int, text) from public;

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
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
set jit = off
as $$
declare
  v_project public.projects := private.readable_project(p_project_id);
  v_embedder text := coalesce(v_project.embedder, 'unnamed');
  v_candidates constant int := 200;
  v_prefix text := nullif(ltrim(p_path_prefix, './'), '');
  v_terms jsonb;
  v_lexemes text[];
  v_words tsquery;
  v_weights real[] := private.text_weights();
  v_is_identifier constant boolean := private.is_identifier_query(p_query);
  v_text_share double precision := case
    when p_query_embedding is null then 1
    when v_is_identifier then 0.7
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
  select jsonb_agg(jsonb_build_object('term', wanted.term, 'lexemes', to_jsonb(wanted.lexemes)))
  into v_terms
  from private.query_terms(v_project.language, p_query) as wanted;
  select array_agg(distinct lexeme)
  into v_lexemes
  from jsonb_array_elements(v_terms) as wanted, jsonb_array_elements_text(wanted -> 'lexemes') as lexeme;
  v_words := private.any_of(v_lexemes);

  return query
    with nearest as materialized (
      select found.id, 1 - found.distance as similarity,
        row_number() over (order by found.distance, found.id)::int as place
      from private.nearest_chunks(v_project.id, v_embedder, p_query_embedding, v_candidates, v_prefix) as found
      where p_query_embedding is not null
    ),
    worded as materialized (
      select found.id, found.rank, row_number() over (order by found.rank desc, found.id)::int as place
      from private.worded_chunks(v_project.id, v_embedder, v_lexemes, v_candidates, v_prefix) as found
    ),
    bound as (
      select (select max(nearest.similarity) from nearest) as best,
        (select min(nearest.similarity) from nearest) as worst,
        (select max(worded.rank) from worded) as best_rank
    ),
    scored as materialized (
      select chunk.id, chunk.document_id, nearest.place as vector_rank, worded.place as text_rank,
        coalesce((nearest.similarity - bound.worst) / nullif(bound.best - bound.worst, 0), (nearest.id is not null)::int)
          as vector_part,
        coalesce(worded.rank, ts_rank(v_weights, chunk.fts, v_words, 1)) / nullif(bound.best_rank, 0) as text_part
      from nearest
      full join worded on worded.id = nearest.id
      join public.document_embeddings as chunk on chunk.id = coalesce(nearest.id, worded.id)
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
        select wanted ->> 'term'
        from jsonb_array_elements(v_terms) with ordinality as listed (wanted, place)
        where exists (
          select from jsonb_array_elements_text(wanted -> 'lexemes') as lexeme
          where chunk.fts @@ private.any_of(array[lexeme])
        )
        order by listed.place
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
security invoker
set search_path = ''
as $$
  select * from private.search_documents(p_project_id, p_query, p_query_embedding, p_embedder, p_limit, p_path_prefix);
$$;
comment on function public.search_documents(uuid, text, extensions.vector, text, int, text) is
  'Chunks of a project by words and meaning, best first, at most p_limit (200). Without p_query_embedding by words alone; with it p_embedder names the embedder that made it. score from 0 to 1 mixes both parts, each scaled within this search, and what else of the document is found; similarity is the cosine; ranks are null for what one part did not find; matched_terms are the words of the query that the chunk has. Raises PROJECT_NOT_FOUND, EMBEDDER_MISMATCH or QUERY_EMBEDDING_INVALID.';
revoke all on function public.search_documents(uuid, text, extensions.vector, text, int, text) from public, anon;
grant execute on function public.search_documents(uuid, text, extensions.vector, text, int, text) to authenticated, service_role;
