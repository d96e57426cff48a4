-- Providers of models, what they cost, and who may call them.

create table public.llm_providers (
  id uuid primary key default gen_random_uuid(),
  name text not null unique,
  display_name text not null,
  api text not null default 'openai' check (api in ('openai', 'anthropic', 'google')),
  base_url text,
  default_model text not null,
  requires_api_key boolean not null default true,
  api_key_secret_name text,
  is_active boolean not null default true,
  check (not requires_api_key or api_key_secret_name is not null)
);
comment on table public.llm_providers is 'Model providers. Written by the service role, readable to signed-in users without address and secret name.';
comment on column public.llm_providers.name is 'Stable key that agents and tools name.';
comment on column public.llm_providers.api is 'The wire format the provider speaks.';
comment on column public.llm_providers.base_url is 'Null for the address of the wire format''s own vendor.';
comment on column public.llm_providers.api_key_secret_name is 'Name of the organisation''s key in Vault. Never readable to users.';

alter table public.llm_providers enable row level security;
create policy "signed-in users read providers" on public.llm_providers
  for select to authenticated using (true);
comment on policy "signed-in users read providers" on public.llm_providers is
  'For choosing a model. The address and the key''s name are not granted.';
grant select (id, name, display_name, api, default_model, requires_api_key, is_active)
  on public.llm_providers to authenticated;
grant select, insert, update, delete on public.llm_providers to service_role;

create table public.user_provider_keys (
  user_id uuid not null references auth.users (id) on delete cascade,
  provider_id uuid not null references public.llm_providers (id) on delete cascade,
  vault_secret_name text not null,
  updated_at timestamptz not null default now(),
  primary key (user_id, provider_id)
);
create index user_provider_keys_provider_id_idx on public.user_provider_keys (provider_id);
comment on table public.user_provider_keys is 'A user''s own provider keys; written only by set_provider_key().';
comment on column public.user_provider_keys.vault_secret_name is 'Name of the key in Vault. Never readable to users.';

alter table public.user_provider_keys enable row level security;
create policy "users see for which providers they have a key" on public.user_provider_keys
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('credentials:write'))
  );
comment on policy "users see for which providers they have a key" on public.user_provider_keys is
  'That there is one, never what it is.';
grant select (user_id, provider_id, updated_at) on public.user_provider_keys to authenticated;
grant select, insert, update, delete on public.user_provider_keys to service_role;

create table public.model_prices (
  provider_id uuid not null references public.llm_providers (id) on delete cascade,
  model text not null,
  input_micro_usd_per_mtok bigint not null check (input_micro_usd_per_mtok >= 0),
  cached_input_micro_usd_per_mtok bigint not null check (cached_input_micro_usd_per_mtok >= 0),
  cache_write_input_micro_usd_per_mtok bigint check (cache_write_input_micro_usd_per_mtok >= 0),
  output_micro_usd_per_mtok bigint not null check (output_micro_usd_per_mtok >= 0),
  web_search_micro_usd_per_call bigint check (web_search_micro_usd_per_call >= 0),
  code_execution_micro_usd_per_call bigint check (code_execution_micro_usd_per_call >= 0),
  valid_from timestamptz not null default now(),
  primary key (provider_id, model, valid_from)
);
comment on table public.model_prices is
  'What a million tokens cost, in millionths of a US dollar. A model without a row costs null, never 0.';

comment on column public.model_prices.web_search_micro_usd_per_call is
  'Of a search that the provider made itself; null: unknown, so a model call with one costs null.';
comment on column public.model_prices.code_execution_micro_usd_per_call is
  'Of a program that the provider ran itself; null: unknown, so a model call with one costs null.';
comment on column public.model_prices.cache_write_input_micro_usd_per_mtok is
  'Of input that the provider writes to its cache; null: as other input.';
alter table public.model_prices enable row level security;
create policy "signed-in users read prices" on public.model_prices
  for select to authenticated using (true);
comment on policy "signed-in users read prices" on public.model_prices is
  'Public knowledge, by which usage is priced.';
grant select on public.model_prices to authenticated;
grant select, insert, update, delete on public.model_prices to service_role;

create table public.model_policies (
  id uuid primary key default gen_random_uuid(),
  user_id uuid references auth.users (id) on delete cascade,
  provider_id uuid not null references public.llm_providers (id) on delete cascade,
  model text,
  is_allowed boolean not null default true,
  allow_own_key boolean not null default true,
  allow_organisation_key boolean not null default true,
  spending_cap_micro_usd bigint check (spending_cap_micro_usd >= 0),
  cap_period text not null default 'month' check (cap_period in ('day', 'month')),
  unique nulls not distinct (user_id, provider_id, model)
);
create index model_policies_provider_id_idx on public.model_policies (provider_id);
comment on table public.model_policies is
  'Who may call which model with whose key. The most specific row counts: user before everyone, model before the whole provider. Without a row everything is allowed.';
comment on column public.model_policies.user_id is 'Null: every user.';
comment on column public.model_policies.model is 'Null: every model of the provider.';
comment on column public.model_policies.spending_cap_micro_usd is
  'What all calls that fall under this row may cost together in a period, with the organisation''s key, in millionths of a US dollar; null: no cap. Calls with a user''s own key are not counted.';
comment on column public.model_policies.cap_period is 'A calendar day or month in UTC.';

alter table public.model_policies enable row level security;
create policy "users read the policies that concern them" on public.model_policies
  for select to authenticated using (user_id is null or user_id = (select auth.uid()));
comment on policy "users read the policies that concern them" on public.model_policies is
  'So that a client offers no model that would be refused.';
grant select on public.model_policies to authenticated;
grant select, insert, update, delete on public.model_policies to service_role;
