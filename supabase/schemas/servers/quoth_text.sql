-- Full-text search: the indexed words of a chunk and the words of a query. The service role may execute the
-- functions that triggers and indexes call, because it writes chunks.

create function private.split_identifiers(p_text text)
returns text
language sql
immutable
set search_path = ''
as $$
  select translate(p_text, '._/:#-@()[]{}<>"''`=,', repeat(' ', 21));
$$;
comment on function private.split_identifiers(text) is
  'Splits identifiers and paths into words, because the parser of Postgres keeps Deno.serve or runtime/security.md as one word.';
grant execute on function private.split_identifiers(text) to service_role;

create function private.chunk_fts(p_language text, p_title text, p_heading_path text[], p_content text)
returns tsvector
language sql
stable
set search_path = ''
as $$
  select setweight(to_tsvector(p_language::regconfig, array_to_string(
        case when p_heading_path[1] = p_title then p_heading_path else p_title || p_heading_path end, ' '
      )), 'A')
    || setweight(to_tsvector(p_language::regconfig, p_content), 'B')
    || setweight(to_tsvector('simple', private.split_identifiers(p_content)), 'C');
$$;
comment on function private.chunk_fts(text, text, text[], text) is
  'The full-text vector of a chunk: title and headings (weight A) and text (B), stemmed in the language, and unstemmed parts of identifiers (C).';
grant execute on function private.chunk_fts(text, text, text[], text) to service_role;

create function private.complete_chunk()
returns trigger
language plpgsql
set search_path = ''
as $$
declare
  v_title text;
  v_language text;
begin
  select document.project_id, document.title, project.language,
    coalesce(new.embedder, project.embedder, 'unnamed')
  into new.project_id, v_title, v_language, new.embedder
  from public.documents as document
  join public.projects as project on project.id = document.project_id
  where document.id = new.document_id;
  if not found then
    return new;
  end if;
  new.chunk_index := coalesce(new.chunk_index, (
    select coalesce(max(chunk.chunk_index) + 1, 0)
    from public.document_embeddings as chunk
    where chunk.document_id = new.document_id and chunk.embedder = new.embedder
  ));
  new.token_count := coalesce(new.token_count, 0);
  new.chunk_hash := coalesce(new.chunk_hash, encode(sha256(convert_to(new.content_chunk, 'UTF8')), 'hex'));
  new.fts := private.chunk_fts(v_language, v_title, new.heading_path, new.content_chunk);
  return new;
end;
$$;
comment on function private.complete_chunk() is
  'Row trigger of document_embeddings: fills in project, position, hash, embedder and full text from the document, so that an insert needs only document_id and content_chunk.';

create trigger complete_chunk before insert on public.document_embeddings
  for each row execute function private.complete_chunk();

-- A change of line numbers does not change the words.
create trigger complete_changed_chunk before update of document_id, content_chunk, heading_path
  on public.document_embeddings
  for each row
  when (
    (old.document_id, old.content_chunk, old.heading_path)
      is distinct from (new.document_id, new.content_chunk, new.heading_path)
  )
  execute function private.complete_chunk();

create function private.stem_again()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  update public.document_embeddings as chunk
  set fts = private.chunk_fts(new.language, document.title, chunk.heading_path, chunk.content_chunk)
  from public.documents as document
  where document.id = chunk.document_id and chunk.project_id = new.id;
  return null;
end;
$$;
comment on function private.stem_again() is
  'Row trigger of projects: when the language changes, stems all chunks again in the same transaction, so that documents and queries always match.';

create trigger stem_again after update of language on public.projects
  for each row when (old.language is distinct from new.language)
  execute function private.stem_again();

create function private.any_of(p_lexemes text[])
returns tsquery
language sql
immutable
set search_path = ''
as $$
  select string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', '|')::tsquery
  from unnest(p_lexemes) as lexeme;
$$;
comment on function private.any_of(text[]) is
  'A query that matches any of the lexemes; null for an empty list.';

create function private.any_of(p_words tsquery[])
returns tsquery
language sql
immutable
set search_path = ''
as $$
  select string_agg('(' || words::text || ')', '|')::tsquery
  from unnest(p_words) as words;
$$;
comment on function private.any_of(tsquery[]) is
  'A query that matches what any of the queries matches; null for an empty list. Ranking selects the good hits: requiring every word of a question would find nothing.';

create function private.query_terms(p_language text, p_query text)
returns table (term text, words tsquery)
language sql
stable
set search_path = ''
as $$
  with word as (
    select btrim(word.text, '.,;:!?"''`*()[]{}<>') as text, word.place, false as is_part
    from regexp_split_to_table(left(p_query, 2000), '\s+') with ordinality as word (text, place)
    union all
    select btrim(part.text, ';!?*'), part.place, true
    from regexp_split_to_table(private.split_identifiers(left(p_query, 2000)), '\s+') with ordinality as part (text, place)
  ),
  term as (
    select lower(word.text) as text, bool_or(word.is_part) as is_part, min(word.place) as place
    from word
    where word.text <> ''
    group by 1
    order by 3
    limit 100
  ),
  lexed as materialized (
    select term.text, term.place,
      tsvector_to_array(to_tsvector(p_language::regconfig, term.text)) as stems,
      case when term.is_part then tsvector_to_array(to_tsvector('simple', term.text)) else '{}' end as parts
    from term
  ),
  -- A word without a stem is a stop word, which nearly every chunk contains.
  meaningful as (
    select lexed.text, lexed.place, lexed.stems || lexed.parts as lexemes
    from lexed
    where cardinality(lexed.stems) > 0
  ),
  chosen as (
    select * from meaningful
    union all
    select lexed.text, lexed.place, lexed.parts
    from lexed
    where not exists (select from meaningful) and cardinality(lexed.parts) > 0
  )
  select chosen.text, private.any_of(array(select distinct lexeme from unnest(chosen.lexemes) as lexeme))
  from chosen
  order by chosen.place;
$$;
comment on function private.query_terms(text, text) is
  'The words of a query (and the parts of its identifiers) in order, each with the lexemes to search for. Stop words count only when there are no other words. Only the first 2000 characters and 100 words count.';

create function private.space_lexeme(p_project_id uuid, p_embedder text)
returns text
language sql
immutable
set search_path = ''
as $$
  select p_project_id::text || ' ' || p_embedder;
$$;
comment on function private.space_lexeme(uuid, text) is
  'A lexeme that marks the chunks of a project in one vector space in the words index.';
grant execute on function private.space_lexeme(uuid, text) to service_role;

create function private.words_in_space(p_project_id uuid, p_embedder text, p_fts tsvector)
returns tsvector
language sql
immutable
-- A high cost, so that the planner uses the index instead of computing this for each row.
cost 1000
set search_path = ''
as $$
  select p_fts || array_to_tsvector(array[private.space_lexeme(p_project_id, p_embedder)]);
$$;
comment on function private.words_in_space(uuid, text, tsvector) is
  'The index entry of a chunk: its lexemes and the lexeme of its project and vector space.';
grant execute on function private.words_in_space(uuid, text, tsvector) to service_role;

-- One index for words and project together, so that a search never reads chunks of other projects. No other
-- index can serve such a query, so the planner cannot choose a worse one.
create index document_embeddings_words_idx on public.document_embeddings
  using gin (private.words_in_space(project_id, embedder, fts));

create function private.in_space(p_project_id uuid, p_embedder text, p_words tsquery)
returns tsquery
language sql
immutable
set search_path = ''
as $$
  select private.any_of(array[private.space_lexeme(p_project_id, p_embedder)]) && p_words;
$$;
comment on function private.in_space(uuid, text, tsquery) is
  'A query on words_in_space() that matches only chunks of this project and vector space; null without words.';

create function private.is_identifier_query(p_query text)
returns boolean
language sql
immutable
set search_path = ''
as $$
  select coalesce(
    count(*) filter (
      where word ~ '[[:alnum:]][._/:\\@#=-]+[[:alnum:]]' and word !~ '^[[:alpha:]]+-[[:alpha:]]+$'
         or word ~ '[a-z][A-Z]|[[:alpha:]][0-9]|[0-9][[:alpha:]]|[_{}()<>$`]|^[-./@#$]+[[:alnum:]]|^[A-Z0-9_]{2,}$'
    ) * 2 >= count(*),
    false
  ) and count(*) > 0
  from regexp_split_to_table(p_query, '\s+') as word
  where word ~ '[[:alnum:]]';
$$;
comment on function private.is_identifier_query(text) is
  'True when at least half of the words are identifiers, paths, flags or numbers, which full text finds better than vectors do.';
