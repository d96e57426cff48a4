-- The catalog of models: list prices as the vendors publish them, which a new project starts with and the console shows
-- beside the prices of the project.

create table private.model_catalog (
  provider text not null,
  model text not null,
  input_micro_usd_per_mtok bigint not null,
  cached_input_micro_usd_per_mtok bigint not null,
  cache_write_input_micro_usd_per_mtok bigint,
  output_micro_usd_per_mtok bigint not null,
  above_input_tokens bigint not null,
  valid_from timestamptz not null,
  retires_on date,
  primary key (provider, model, valid_from, above_input_tokens)
);
comment on table private.model_catalog is
  'List prices of models, with the columns of model_prices. Calls cost what model_prices says. Written only by migrations.';
comment on column private.model_catalog.provider is 'The name in llm_providers.';
alter table private.model_catalog enable row level security;

-- Read on 2026-11-23:
--   OpenAI     developers.openai.com/api/docs/pricing and /deprecations (none of these is deprecated)
--   Anthropic  platform.claude.com/docs/en/about-claude/pricing and /model-deprecations ("not sooner than")
--   Google     ai.google.dev/gemini-api/docs/pricing and /deprecations ("earliest possible date")
insert into private.model_catalog (
  provider, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
  cache_write_input_micro_usd_per_mtok, output_micro_usd_per_mtok, above_input_tokens, valid_from, retires_on
) values
  ('openai', 'gpt-5.4-mini', 750000, 75000, null, 4500000, 0, '2026-03-17T00:00Z', null),
  ('openai', 'text-embedding-3-small', 20000, 20000, null, 0, 0, '2024-01-25T00:00Z', null),
  ('openrouter', 'openai/gpt-5.4-mini', 750000, 75000, null, 4500000, 0, '2026-03-17T00:00Z', null),
  ('anthropic', 'claude-haiku-5-5', 100000, 10000, 125000, 500000, 0, '2026-10-07T00:00Z', '2027-10-07'),
  ('anthropic', 'claude-haiku-5-5', 500000, 50000, 625000, 2500000, 100000, '2026-10-07T00:00Z', '2027-10-07'),
  ('anthropic', 'claude-sonnet-5-5', 2000000, 100000, 2500000, 10000000, 0, '2026-10-07T00:00Z', '2027-09-28'),
  ('anthropic', 'claude-haiku-4-5', 1000000, 100000, 1250000, 5000000, 0, '2025-10-15T00:00Z', '2026-10-15'),
  ('google', 'gemini-3.8-flash', 750000, 75000, null, 3750000, 0, '2026-09-02T00:00Z', null),
  ('google', 'gemini-3.8-flash', 1500000, 150000, null, 7500000, 0, '2027-01-01T00:00Z', null),
  ('google', 'gemini-embedding-001', 150000, 150000, null, 0, 0, '2025-07-14T00:00Z', '2028-05-14'),
  ('google', 'gemini-embedding-2', 200000, 200000, null, 0, 0, '2026-04-22T00:00Z', null),
  -- Local models; a free provider needs no rows.
  ('ollama', 'llama3.2', 0, 0, null, 0, 0, '2026-01-01T00:00Z', null);
