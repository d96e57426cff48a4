-- Search by vector: small projects compare every chunk, large projects use the HNSW index.

create function private.nearest_by_scan(
  p_project_id uuid, p_embedder text, p_query_embedding extensions.vector, p_limit int, p_document_ids uuid[]
)
returns table (id uuid, distance double precision)
language plpgsql
stable
rows 200
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
declare
  v_query constant extensions.halfvec := p_query_embedding::extensions.halfvec(768);
  -- Half precision changes a distance by less than a thousandth, so a few extra candidates are enough.
  v_spare constant int := 20;
begin
  return query
    with near as materialized (
      select chunk.chunk_id
      from private.chunk_vectors as chunk
      where chunk.project_id = p_project_id
        and chunk.embedder = p_embedder
        and (p_document_ids is null or chunk.document_id = any (p_document_ids))
      order by chunk.embedding operator(extensions.<=>) v_query, chunk.chunk_id
      limit p_limit + v_spare
    )
    select chunk.id, chunk.embedding operator(extensions.<=>) p_query_embedding
    from near
    join public.document_embeddings as chunk on chunk.id = near.chunk_id
    order by 2, chunk.id
    limit p_limit;
end;
$$;
comment on function private.nearest_by_scan(uuid, text, extensions.vector, int, uuid[]) is
  'The nearest chunks, by comparing all of them at half precision and then the closest ones by their full vectors.';

create function private.nearest_by_index(
  p_project_id uuid, p_embedder text, p_query_embedding extensions.vector, p_limit int, p_document_ids uuid[]
)
returns table (id uuid, distance double precision)
language plpgsql
stable
rows 200
set search_path = ''
set plan_cache_mode = force_custom_plan
-- Without sorting, only the vector index can return this order.
set enable_sort = off
as $$
begin
  perform set_config('hnsw.ef_search', least(1000, greatest(300, p_limit))::text, true);
  -- Since pgvector 0.8.0: keeps scanning until there are enough chunks of this project.
  if (
    select string_to_array(extension.extversion, '.')::int[] >= array[0, 8]
    from pg_catalog.pg_extension as extension
    where extension.extname = 'vector'
  ) then
    perform set_config('hnsw.iterative_scan', 'relaxed_order', true);
  end if;
  return query
    with nearest as materialized (
      select chunk.id, chunk.embedding operator(extensions.<=>) p_query_embedding as distance
      from public.document_embeddings as chunk
      where chunk.project_id = p_project_id
        and chunk.embedder = p_embedder
        and (p_document_ids is null or chunk.document_id = any (p_document_ids))
      order by chunk.embedding operator(extensions.<=>) p_query_embedding
      limit p_limit
    )
    select nearest.id, nearest.distance from nearest order by nearest.distance, nearest.id;
end;
$$;
comment on function private.nearest_by_index(uuid, text, extensions.vector, int, uuid[]) is
  'The nearest chunks by the HNSW index. Approximate, and possibly too few when the project is a small part of all chunks.';

create function private.nearest_chunks(
  p_project_id uuid, p_embedder text, p_query_embedding extensions.vector, p_limit int, p_document_ids uuid[] default null
)
returns table (id uuid, distance double precision)
language plpgsql
stable
rows 200
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
declare
  -- Up to this size, comparing every chunk is cheaper than the index, which covers all projects and scans until
  -- it has found enough chunks of this one.
  v_compared_up_to constant int := 20000;
  v_ids uuid[];
  v_distances double precision[];
begin
  if extensions.vector_dims(p_query_embedding) <> 768 or extensions.vector_norm(p_query_embedding) = 0 then
    perform private.raise_error('QUERY_EMBEDDING_INVALID',
      format('Cannot search by a vector of %s dimensions and length %s',
        extensions.vector_dims(p_query_embedding), extensions.vector_norm(p_query_embedding)),
      'Send the 768 dimensions that the project''s embedder returns for the query.');
  end if;

  if exists (
    select from private.chunk_vectors as chunk
    where chunk.project_id = p_project_id
      and chunk.embedder = p_embedder
      and (p_document_ids is null or chunk.document_id = any (p_document_ids))
    offset v_compared_up_to
  ) then
    select array_agg(nearest.id order by nearest.distance, nearest.id),
      array_agg(nearest.distance order by nearest.distance, nearest.id)
    into v_ids, v_distances
    from private.nearest_by_index(p_project_id, p_embedder, p_query_embedding, p_limit, p_document_ids) as nearest;
  end if;
  -- The index stops after a number of chunks of other projects. Then compare every chunk.
  if cardinality(v_ids) = p_limit then
    return query select * from unnest(v_ids, v_distances);
  else
    return query
      select * from private.nearest_by_scan(p_project_id, p_embedder, p_query_embedding, p_limit, p_document_ids);
  end if;
end;
$$;
comment on function private.nearest_chunks(uuid, text, extensions.vector, int, uuid[]) is
  'The p_limit chunks nearest to a vector, nearest first, with their cosine distance. Exact up to 20000 chunks and whenever the index does not find enough. Raises QUERY_EMBEDDING_INVALID.';

create function private.match_documents(
  query_embedding extensions.vector, match_threshold double precision, match_count int, filter_project_id uuid
)
returns table (
  id uuid, document_id uuid, content_chunk text, similarity double precision, file_path text, title text
)
language plpgsql
stable
rows 10
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
set jit = off
-- Also applies to the functions that it calls: vectors are stored out of line, so the planner underestimates
-- a sequential scan.
set enable_seqscan = off
as $$
declare
  v_embedder text;
begin
  select coalesce(project.embedder, 'unnamed') into v_embedder
  from public.projects as project
  where project.id = filter_project_id
    and (
      private.is_service_caller()
      or exists (
        select from public.project_members as membership
        where membership.project_id = project.id and membership.user_id = (select auth.uid())
      )
    )
    and private.has_scope('quoth:read');
  if not found then
    return;
  end if;
  return query
    select chunk.id, chunk.document_id, chunk.content_chunk, 1 - nearest.distance, document.file_path, document.title
    from private.nearest_chunks(
      filter_project_id, v_embedder, query_embedding, least(greatest(coalesce(match_count, 10), 0), 1000)
    ) as nearest
    join public.document_embeddings as chunk on chunk.id = nearest.id
    join public.documents as document on document.id = chunk.document_id
    -- Filter only the hits: inside the search, this condition would make the index scan everything.
    where match_threshold is null or 1 - nearest.distance > match_threshold
    order by nearest.distance, document.file_path, chunk.chunk_index;
end;
$$;
comment on function private.match_documents(extensions.vector, double precision, int, uuid) is
  'See public.match_documents(). Definer: row policies would prevent the use of the index; the function checks the membership itself.';

create function public.match_documents(
  query_embedding extensions.vector(768), match_threshold double precision, match_count int, filter_project_id uuid
)
returns table (
  id uuid, document_id uuid, content_chunk text, similarity double precision, file_path text, title text
)
language sql
stable
rows 10
set search_path = ''
as $$
  select * from private.match_documents(query_embedding, match_threshold, match_count, filter_project_id);
$$;
comment on function public.match_documents(extensions.vector, double precision, int, uuid) is
  'Chunks of a project by cosine similarity to a vector of its embedder, best first: at most match_count (1000), only those above match_threshold. Empty for projects of which the caller is not a member.';
revoke all on function public.match_documents(extensions.vector, double precision, int, uuid) from public, anon, authenticated, service_role;
grant execute on function
  private.match_documents(extensions.vector, double precision, int, uuid),
  public.match_documents(extensions.vector, double precision, int, uuid)
  to authenticated, service_role;
