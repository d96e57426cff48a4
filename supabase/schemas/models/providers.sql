-- Model providers, the prices of their models, and who may call them.

create table public.llm_providers (
  id uuid primary key default gen_random_uuid(),
  name text not null unique,
  display_name text not null,
  api text not null default 'openai' check (api in ('openai', 'anthropic', 'google')),
  base_url text,
  default_model text not null,
  requires_api_key boolean not null default true,
  api_key_secret_name text,
  is_free boolean not null default false,
  is_active boolean not null default true,
  check (not requires_api_key or api_key_secret_name is not null)
);
revoke all on public.llm_providers from anon, authenticated, service_role;
comment on table public.llm_providers is 'Model providers. Written by the service role; signed-in users may read all columns except the address and the secret''s name.';
comment on column public.llm_providers.name is 'Stable key by which agents and tools refer to the provider.';
comment on column public.llm_providers.api is 'The wire format of the provider''s API.';
comment on column public.llm_providers.base_url is 'Null: the address of the vendor that defines the wire format.';
comment on column public.llm_providers.is_free is 'True: its models cost nothing, such as those of a server of your own. They need no rows in model_prices.';
comment on column public.llm_providers.api_key_secret_name is 'Name of the organization''s key in Vault; by default the provider''s name followed by _API_KEY. Not readable by users.';

create function private.name_provider_key()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.api_key_secret_name := upper(regexp_replace(new.name, '[^A-Za-z0-9]+', '_', 'g')) || '_API_KEY';
  return new;
end;
$$;
comment on function private.name_provider_key() is
  'Row trigger: names the key of a provider by default, such as OPENAI_API_KEY.';
create trigger llm_providers_name_key before insert or update on public.llm_providers
  for each row when (new.requires_api_key and new.api_key_secret_name is null)
  execute function private.name_provider_key();

alter table public.llm_providers enable row level security;
create policy "signed-in users read providers" on public.llm_providers
  for select to authenticated using (true);
comment on policy "signed-in users read providers" on public.llm_providers is
  'Users choose a model from this table. The address and the name of the key are not granted.';
grant select (id, name, display_name, api, default_model, requires_api_key, is_free, is_active)
  on public.llm_providers to authenticated;
grant select, insert, update, delete on public.llm_providers to service_role;

create table public.user_provider_keys (
  user_id uuid not null references auth.users (id) on delete cascade,
  provider_id uuid not null references public.llm_providers (id) on delete cascade,
  vault_secret_name text not null,
  destination text,
  updated_at timestamptz not null default now(),
  primary key (user_id, provider_id)
);
revoke all on public.user_provider_keys from anon, authenticated, service_role;
create index user_provider_keys_provider_id_idx on public.user_provider_keys (provider_id);
comment on table public.user_provider_keys is 'A user''s own provider keys; written only by set_provider_key().';
comment on column public.user_provider_keys.vault_secret_name is 'Name of the key in Vault. Not readable by users.';
comment on column public.user_provider_keys.destination is
  'The host that the provider had when the key was stored, set by a trigger. The key is sent to no other. Not readable by users.';

alter table public.user_provider_keys enable row level security;
create policy "users see for which providers they have a key" on public.user_provider_keys
  for select to authenticated using (
    user_id = (select auth.uid()) and (select private.has_scope('credentials:write'))
  );
comment on policy "users see for which providers they have a key" on public.user_provider_keys is
  'Users see that they have a key, never its value.';
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
  above_input_tokens bigint not null default 0 check (above_input_tokens >= 0),
  retires_on date,
  primary key (provider_id, model, valid_from, above_input_tokens)
);
revoke all on public.model_prices from anon, authenticated, service_role;
comment on table public.model_prices is
  'Prices per million tokens, in millionths of a US dollar. A call of a model without a row has the cost null, never 0.';

comment on column public.model_prices.valid_from is
  'A change of prices is a set of new rows with one later valid_from; the rows before remain.';
comment on column public.model_prices.above_input_tokens is
  'The row prices whole calls with more input tokens than this; 0: all calls that no higher row of the same valid_from prices.';
comment on column public.model_prices.retires_on is
  'First day on which the provider may stop serving the model, as the provider publishes it; null: none is published. operator_retiring_models lists the models in use 60 days before.';
comment on column public.model_prices.web_search_micro_usd_per_call is
  'Price of one search that the provider runs. Null: unknown, so the cost of a model call with a search is null.';
comment on column public.model_prices.code_execution_micro_usd_per_call is
  'Price of one program that the provider runs. Null: unknown, so the cost of a model call with a program is null.';
comment on column public.model_prices.cache_write_input_micro_usd_per_mtok is
  'Price of input that the provider writes to its cache. Null: the price of other input.';
alter table public.model_prices enable row level security;
create policy "signed-in users read prices" on public.model_prices
  for select to authenticated using (true);
comment on policy "signed-in users read prices" on public.model_prices is
  'Prices are public; usage is priced with them.';
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
revoke all on public.model_policies from anon, authenticated, service_role;
create index model_policies_provider_id_idx on public.model_policies (provider_id);
comment on table public.model_policies is
  'Which models a user may call, and with whose key. The most specific row applies: a row for the user before a row for all users, and a row for the model before a row for the whole provider. Without a row everything is allowed.';
comment on column public.model_policies.user_id is 'Null: every user.';
comment on column public.model_policies.model is 'Null: every model of the provider.';
comment on column public.model_policies.spending_cap_micro_usd is
  'Most that all calls covered by this row may cost together in one period with the organization''s key, in millionths of a US dollar; null: no cap. Calls with a user''s own key are not counted.';
comment on column public.model_policies.cap_period is 'A calendar day or month in UTC.';

alter table public.model_policies enable row level security;
create policy "users read the policies that concern them" on public.model_policies
  for select to authenticated using (user_id is null or user_id = (select auth.uid()));
comment on policy "users read the policies that concern them" on public.model_policies is
  'Lets a client offer only models that the user may call.';
grant select on public.model_policies to authenticated;
grant select, insert, update, delete on public.model_policies to service_role;

create table public.model_windows (
  provider_id uuid references public.llm_providers (id) on delete cascade,
  model_prefix text not null,
  window_tokens int not null check (window_tokens >= 1000),
  max_output_tokens int check (max_output_tokens > 0),
  unique nulls not distinct (provider_id, model_prefix)
);
revoke all on public.model_windows from anon, authenticated, service_role;
comment on table public.model_windows is
  'Context windows of models: tokens of prompt and answer together. Of the rows whose prefix matches a model''s name, rows of its provider come first, then the longest prefix.';
comment on column public.model_windows.provider_id is 'Null: every provider that serves the model.';
comment on column public.model_windows.model_prefix is
  'How the model''s name begins, without the vendor that some providers put before it (vendor/model); empty: every model.';

comment on column public.model_windows.max_output_tokens is
  'The most tokens of one answer, to which a call is raised that is made again because its turn was cut. Null: unknown; such a call has no limit.';

alter table public.model_windows enable row level security;
create policy "signed-in users read windows" on public.model_windows
  for select to authenticated using (true);
comment on policy "signed-in users read windows" on public.model_windows is
  'Window sizes are public; they decide when a transcript is summarized.';
grant select on public.model_windows to authenticated;
grant select, insert, update, delete on public.model_windows to service_role;

create function private.model_window(p_provider_id uuid, p_model text)
returns int
-- Not "language sql", which Postgres would plan again at every call.
language plpgsql
stable
set search_path = ''
as $$
declare
  -- Once, not for each row.
  v_model constant text := regexp_replace(coalesce(p_model, ''), '^.*/', '');
begin
  return (
    select known.window_tokens
    from public.model_windows as known
    where (known.provider_id is null or known.provider_id = p_provider_id)
      and starts_with(v_model, known.model_prefix)
    order by known.provider_id nulls last, length(known.model_prefix) desc
    limit 1
  );
end;
$$;
comment on function private.model_window(uuid, text) is
  'The context window of a model in tokens, from model_windows; null when no row matches.';

create function private.model_max_tokens(p_provider_id uuid, p_model text)
returns int
language plpgsql
stable
set search_path = ''
as $$
declare
  v_model constant text := regexp_replace(coalesce(p_model, ''), '^.*/', '');
begin
  return (
    select known.max_output_tokens
    from public.model_windows as known
    where known.max_output_tokens is not null
      and (known.provider_id is null or known.provider_id = p_provider_id)
      and starts_with(v_model, known.model_prefix)
    order by known.provider_id nulls last, length(known.model_prefix) desc
    limit 1
  );
end;
$$;
comment on function private.model_max_tokens(uuid, text) is
  'The most tokens that a model writes in one answer, from the rows of model_windows that say it; null when none of them matches.';
