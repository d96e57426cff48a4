-- The catalog of models: what vendors publish about the models that a new project starts with, and the context windows
-- of families of models. The console shows it beside the prices of the project.

create table private.model_catalog (
  provider text not null,
  model text not null,
  window_tokens int not null,
  abilities text[] not null check (
    abilities <@ '{tools,reasoning,output_schema,output_schema_beside_tools,images,documents,embeddings}'),
  retires_on date,
  sources text[] not null check (sources <> '{}'),
  read_on date not null,
  primary key (provider, model)
);
comment on table private.model_catalog is
  'Models as their vendors describe them. Calls do not depend on it: windows come from model_windows, costs from model_prices, and what a model refuses is learned from its answers. Written only by migrations.';
comment on column private.model_catalog.provider is 'The name in llm_providers.';
comment on column private.model_catalog.window_tokens is 'Tokens of prompt and answer together; of an embedding model, of one text.';
comment on column private.model_catalog.abilities is
  'What the model can do over the API that the provider''s adapter uses: tools, reasoning (an effort can be chosen), output_schema (alone) and output_schema_beside_tools (enforced), images and documents as input, embeddings.';
comment on column private.model_catalog.retires_on is
  'First day on which the vendor may stop serving the model; null: none is published.';
comment on column private.model_catalog.sources is 'Pages of the vendor from which the row and its prices were read, on read_on.';
alter table private.model_catalog enable row level security;

create table private.model_catalog_prices (
  provider text not null,
  model text not null,
  input_micro_usd_per_mtok bigint not null,
  cached_input_micro_usd_per_mtok bigint not null,
  cache_write_input_micro_usd_per_mtok bigint,
  output_micro_usd_per_mtok bigint not null,
  above_input_tokens bigint not null default 0,
  valid_from timestamptz not null,
  primary key (provider, model, valid_from, above_input_tokens),
  foreign key (provider, model) references private.model_catalog (provider, model)
);
comment on table private.model_catalog_prices is
  'List prices of the models of model_catalog, with the columns of model_prices.';
alter table private.model_catalog_prices enable row level security;

insert into private.model_catalog (provider, model, window_tokens, abilities, retires_on, sources, read_on) values
  ('openai', 'gpt-5.4-mini', 400000,
    '{tools,reasoning,output_schema,output_schema_beside_tools,images,documents}', null,
    '{developers.openai.com/api/docs/models/gpt-5.4-mini,developers.openai.com/api/docs/pricing,developers.openai.com/api/docs/deprecations}', '2026-11-23'),
  ('openai', 'text-embedding-3-small', 8192, '{embeddings}', null,
    '{developers.openai.com/api/docs/pricing,developers.openai.com/api/docs/deprecations}', '2026-11-23'),
  ('openrouter', 'openai/gpt-5.4-mini', 400000,
    '{tools,reasoning,output_schema,output_schema_beside_tools,images}', null,
    '{openrouter.ai/openai/gpt-5.4-mini}', '2026-11-23'),
  ('anthropic', 'claude-haiku-5-5', 1000000,
    '{tools,reasoning,output_schema,output_schema_beside_tools,images,documents}', '2027-10-07',
    '{platform.claude.com/docs/en/models/haiku-5-5/overview,platform.claude.com/docs/en/about-claude/model-deprecations}', '2026-11-27'),
  ('anthropic', 'claude-sonnet-5-5', 1000000,
    '{tools,reasoning,output_schema,output_schema_beside_tools,images,documents}', '2027-09-28',
    '{platform.claude.com/docs/en/models/sonnet-5-5/overview,platform.claude.com/docs/en/about-claude/model-deprecations}', '2026-11-27'),
  ('anthropic', 'claude-haiku-4-5', 200000,
    '{tools,output_schema,output_schema_beside_tools,images,documents}', '2026-10-15',
    '{platform.claude.com/docs/en/about-claude/pricing,platform.claude.com/docs/en/about-claude/model-deprecations}', '2026-11-23'),
  ('google', 'gemini-3.8-flash', 1048576,
    '{tools,reasoning,output_schema,output_schema_beside_tools,images,documents}', null,
    '{ai.google.dev/gemini-api/docs/models/gemini-3.8-flash,ai.google.dev/gemini-api/docs/pricing,ai.google.dev/gemini-api/docs/deprecations}', '2026-11-23'),
  ('google', 'gemini-embedding-001', 2048, '{embeddings}', '2028-05-14',
    '{ai.google.dev/gemini-api/docs/pricing,ai.google.dev/gemini-api/docs/deprecations}', '2026-11-23'),
  ('google', 'gemini-embedding-2', 8192, '{embeddings}', null,
    '{ai.google.dev/gemini-api/docs/pricing,ai.google.dev/gemini-api/docs/deprecations}', '2026-11-23'),
  ('ollama', 'llama3.2', 128000, '{tools,output_schema}', null, '{ollama.com/library/llama3.2}', '2026-11-23');

-- A change of prices is a set of new rows with a later valid_from.
insert into private.model_catalog_prices (
  provider, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
  cache_write_input_micro_usd_per_mtok, output_micro_usd_per_mtok, above_input_tokens, valid_from
) values
  ('openai', 'gpt-5.4-mini', 750000, 75000, null, 4500000, 0, '2026-03-17T00:00Z'),
  ('openai', 'text-embedding-3-small', 20000, 20000, null, 0, 0, '2024-01-25T00:00Z'),
  ('openrouter', 'openai/gpt-5.4-mini', 750000, 75000, null, 4500000, 0, '2026-03-17T00:00Z'),
  ('anthropic', 'claude-haiku-5-5', 100000, 10000, 125000, 500000, 0, '2026-10-07T00:00Z'),
  ('anthropic', 'claude-haiku-5-5', 500000, 50000, 625000, 2500000, 100000, '2026-10-07T00:00Z'),
  ('anthropic', 'claude-sonnet-5-5', 2000000, 100000, 2500000, 10000000, 0, '2026-10-07T00:00Z'),
  ('anthropic', 'claude-haiku-4-5', 1000000, 100000, 1250000, 5000000, 0, '2025-10-15T00:00Z'),
  ('google', 'gemini-3.8-flash', 750000, 75000, null, 3750000, 0, '2026-09-02T00:00Z'),
  ('google', 'gemini-3.8-flash', 1500000, 150000, null, 7500000, 0, '2027-01-01T00:00Z'),
  ('google', 'gemini-embedding-001', 150000, 150000, null, 0, 0, '2025-07-14T00:00Z'),
  ('google', 'gemini-embedding-2', 200000, 200000, null, 0, 0, '2026-04-22T00:00Z'),
  -- A local model; a free provider needs no prices.
  ('ollama', 'llama3.2', 0, 0, null, 0, 0, '2026-01-01T00:00Z');

-- Families, for models that the catalog does not have. Read on 2026-11-23: developers.openai.com/api/docs/models,
-- platform.claude.com/docs/en/about-claude/models/overview, ai.google.dev/gemini-api/docs/models.
insert into public.model_windows (provider_id, model_prefix, window_tokens, max_output_tokens) values
  (null, '', 128000, null),
  (null, 'gpt-3.5', 16385, 4096),
  (null, 'gpt-4', 8192, 4096),
  (null, 'gpt-4-turbo', 128000, 4096),
  (null, 'gpt-4o', 128000, 16384),
  (null, 'gpt-4.1', 1047576, 32768),
  (null, 'gpt-5', 400000, 128000),
  (null, 'gpt-5.6', 1050000, 128000),
  (null, 'gpt-6', 1050000, 128000),
  (null, 'o1', 200000, 100000),
  (null, 'o3', 200000, 100000),
  (null, 'o4', 200000, 100000),
  (null, 'claude', 1000000, 128000),
  (null, 'claude-3', 200000, 4096),
  (null, 'claude-haiku-4', 200000, 64000),
  (null, 'claude-opus-4', 200000, 32000),
  (null, 'claude-sonnet-4', 200000, 64000),
  (null, 'gemini', 1048576, 65536),
  (null, 'llama-3', 128000, null),
  (null, 'llama3', 128000, null),
  (null, 'mistral', 32000, null),
  (null, 'mistral-large', 128000, null),
  (null, 'qwen2.5', 32768, null),
  (null, 'qwen3', 32768, null),
  (null, 'deepseek', 128000, null),
  (null, 'demo', 128000, null),
  (null, 'phi3', 128000, null);
