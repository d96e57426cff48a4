-- Embedders, which turn text into vectors for Quoth: how to call each, and which one a project gets.

create table public.embedders (
  name text primary key,
  api text not null check (api in ('google', 'openai', 'supabase', 'hash')),
  base_url text,
  model text not null,
  model_dimensions integer not null check (model_dimensions = 0 or model_dimensions = 384 or model_dimensions = 768),
  dimensions integer not null default 768 check (dimensions = 768),
  sends_dimensions boolean not null default false,
  window_tokens integer not null check (window_tokens >= 100),
  max_batch_items integer not null check (max_batch_items between 1 and 2048),
  similarity_floor real not null default 0 check (similarity_floor between -1 and 1),
  is_english_only boolean not null default false,
  requires_api_key boolean not null default false,
  api_key_secret_name text,
  llm_provider text,
  items_per_minute integer check (items_per_minute > 0),
  items_per_day integer check (items_per_day > 0),
  reserved_for_queries integer not null default 0,
  quota_time_zone text not null default 'UTC',
  preference integer unique,
  is_active boolean not null default true,
  check (not requires_api_key or api_key_secret_name is not null),
  check ((api = 'hash') = (model_dimensions = 0)),
  check (reserved_for_queries >= 0 and reserved_for_queries < coalesce(items_per_minute, 1))
);
revoke all on public.embedders from anon, authenticated, service_role;
comment on table public.embedders is
  'Models that create vectors of documents and queries. Each name has one vector space. Written by the service role; signed-in users may read all columns except the address and the secret''s name.';
comment on column public.embedders.name is
  'Stored with every vector; vectors of different names are never compared. A change of model requires a new name.';
comment on column public.embedders.api is
  'The wire format: google, openai (any compatible server), supabase (models built into the edge runtime), hash (no model, only a hash of the words).';
comment on column public.embedders.base_url is 'Null: the address of the vendor that defines the wire format.';
comment on column public.embedders.model_dimensions is
  'Dimensions of the model''s own vectors. The rest up to 768 is filled with a hash of the words, with a weight of 0.3.';
comment on column public.embedders.sends_dimensions is 'True when the request may name the number of dimensions (openai only).';
comment on column public.embedders.window_tokens is
  'Longest chunk for the model, in tokens estimated at four characters each. If the model counts more tokens, it ignores the end of the chunk.';
comment on column public.embedders.max_batch_items is 'Most texts in one request. One failed request loses this many.';
comment on column public.embedders.similarity_floor is
  'Cosine similarity below which a hit is probably unrelated; 0 when it was not measured.';
comment on column public.embedders.api_key_secret_name is 'Name of the key in Vault. Not readable by users.';
comment on column public.embedders.llm_provider is
  'llm_providers.name under which the usage of queries is recorded, with its model_prices; null: queries cost nothing and are not recorded.';
comment on column public.embedders.items_per_minute is 'Texts, not requests, in any minute. Null: no limit on this side.';
comment on column public.embedders.items_per_day is 'Texts, not requests, between two midnights of quota_time_zone. Null: no limit on this side.';
comment on column public.embedders.reserved_for_queries is
  'Share of items_per_minute and items_per_day that is reserved for searches.';
comment on column public.embedders.quota_time_zone is 'The time zone at whose midnight the provider''s daily quota resets.';
comment on column public.embedders.preference is
  'Order in which default_embedder() tries the embedders; null: used only when a project names it.';

alter table public.embedders enable row level security;
create policy "signed-in users read embedders" on public.embedders
  for select to authenticated using (true);
comment on policy "signed-in users read embedders" on public.embedders is
  'A client needs the name and dimensions to create the vector of a query. The address and the key''s name are not granted.';
grant select (name, api, model, model_dimensions, dimensions, sends_dimensions, window_tokens, max_batch_items,
  similarity_floor, is_english_only, requires_api_key, llm_provider, items_per_minute, items_per_day, reserved_for_queries, quota_time_zone,
  preference, is_active) on public.embedders to authenticated;
grant select, insert, update, delete on public.embedders to service_role;

create function private.keep_vector_space()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  perform private.raise_error('EMBEDDER_FIXED',
    format('Cannot change embedder %L: its name, api, model and model_dimensions define its vector space', old.name),
    'Insert an embedder under a new name and switch the projects to it; they are embedded again in the background.');
end;
$$;
comment on function private.keep_vector_space() is 'Refuses changes that would mix two vector spaces under one name. Raises EMBEDDER_FIXED.';

create trigger keep_vector_space
before update on public.embedders
for each row
when ((old.name, old.api, old.model, old.model_dimensions) is distinct from (new.name, new.api, new.model, new.model_dimensions))
execute function private.keep_vector_space();

-- 15 texts a minute was the documented free tier of Gemini; raise it for an account with a higher limit.
-- The similarity floors were measured on documentation: nine of ten relevant hits lie above them.
insert into public.embedders (
  name, api, base_url, model, model_dimensions, sends_dimensions, window_tokens, max_batch_items, similarity_floor,
  is_english_only, requires_api_key, api_key_secret_name, llm_provider, items_per_minute, reserved_for_queries, quota_time_zone, preference, is_active
)
values
  ('gemini-embedding-001@768', 'google', null, 'gemini-embedding-001', 768, false, 2048, 100, 0,
    false, true, 'GOOGLE_API_KEY', 'google', 15, 3, 'America/Los_Angeles', 10, true),
  ('gemini-embedding-2@768', 'google', null, 'gemini-embedding-2', 768, false, 8192, 100, 0,
    false, true, 'GOOGLE_API_KEY', 'google', 15, 3, 'America/Los_Angeles', null, true),
  ('text-embedding-3-small@768', 'openai', null, 'text-embedding-3-small', 768, true, 8192, 100, 0,
    false, true, 'OPENAI_API_KEY', 'openai', 500, 50, 'UTC', null, true),
  -- The embedded stack serves this model on loopback, and updates the address at each start.
  ('minilm-l6-v2+hash384@1', 'openai', 'http://127.0.0.1:9/v1', 'minilm-l6-v2', 384, false, 220, 16, 0.46,
    true, false, null, null, null, 0, 'UTC', 20, false),
  -- The platform allows 2 s of CPU time per request, which is enough for about ten texts.
  ('gte-small+hash384@1', 'supabase', null, 'gte-small', 384, false, 480, 5, 0,
    true, false, null, null, null, 0, 'UTC', 30, true),
  ('hash768@1', 'hash', null, 'hash', 0, false, 480, 256, 0.2,
    false, false, null, null, null, 0, 'UTC', null, true);

create function private.default_embedder()
returns text
language sql
stable
set search_path = ''
as $$
  select embedder.name
  from public.embedders as embedder
  where embedder.is_active
    and embedder.preference is not null
    and (not embedder.requires_api_key or private.secret_value(embedder.api_key_secret_name) is not null)
  order by embedder.preference
  limit 1;
$$;
comment on function private.default_embedder() is
  'The embedder of a new project that names none: the first by preference that is active and has the key it needs.';

create function private.resolve_embedder(p_name text)
returns table (
  name text, api text, base_url text, model text, model_dimensions integer, sends_dimensions boolean, window_tokens integer,
  max_batch_items integer, similarity_floor real, is_english_only boolean, quota_time_zone text, llm_provider text, secret text
)
language plpgsql
stable
set search_path = ''
as $$
declare
  v_embedder public.embedders;
  v_secret text;
begin
  select * into v_embedder from public.embedders as embedder where embedder.name = p_name and embedder.is_active;
  if not found then
    perform private.raise_error('EMBEDDER_NOT_FOUND', format('Cannot embed: there is no active embedder %L', p_name),
      'Read the names from the table embedders; the MiniLM of the embedded stack is active only there.');
  end if;

  if v_embedder.requires_api_key then
    v_secret := private.secret_value(v_embedder.api_key_secret_name);
    if v_secret is null then
      perform private.raise_error('EMBEDDER_KEY_MISSING',
        format('Cannot embed: there is no key for embedder %L; Vault holds no secret named %L',
          v_embedder.name, v_embedder.api_key_secret_name),
        format('%s On a local stack, put %s into .env. Without a key, name the embedder gte-small+hash384@1 on a hosted project.',
          private.hint_to_store(v_embedder.api_key_secret_name), v_embedder.api_key_secret_name));
    end if;
  end if;
  return query select v_embedder.name, v_embedder.api, v_embedder.base_url, v_embedder.model, v_embedder.model_dimensions,
    v_embedder.sends_dimensions, v_embedder.window_tokens, v_embedder.max_batch_items, v_embedder.similarity_floor, v_embedder.is_english_only,
    v_embedder.quota_time_zone, v_embedder.llm_provider, v_secret;
end;
$$;
comment on function private.resolve_embedder(text) is
  'How to call an embedder, including its key. Raises EMBEDDER_NOT_FOUND, EMBEDDER_KEY_MISSING. Called by sync and search.';
