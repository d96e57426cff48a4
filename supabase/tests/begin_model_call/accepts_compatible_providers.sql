begin;
set local search_path = public, extensions;
select plan(7);

insert into public.llm_providers (name, display_name, api, base_url, default_model, requires_api_key, is_free)
values ('house', 'House', 'openai', 'http://127.0.0.1:9/v1', 'qwen', false, true),
  ('local-model', 'Local', 'openai', 'http://127.0.0.1:9/v1', 'llama', false, true)
on conflict (name) do update set is_active = true, default_model = excluded.default_model;
create function pg_temp.candidates(p_provider text, p_tool text default 'generate_sql') returns text language sql as $$
  select string_agg(candidate #>> '{provider,name}', ',')
  from jsonb_array_elements(private.begin_model_call(jsonb_strip_nulls(jsonb_build_object(
    'mcp_name', 'supabase', 'tool_name', p_tool, 'provider', p_provider))) -> 'candidates') as candidate;
$$;

select matches(pg_temp.candidates('house'), '^house,', 'a compatible provider of the operator is called first when it is named');
select matches(pg_temp.candidates(null), 'local-model$', 'a model server of the machine is the last choice');
select matches(pg_temp.candidates(null, 'format_results'), 'local-model$', 'of every tool');
update public.mcp_tool_models set accepts_compatible = false where tool_name = 'generate_sql';
select is(tests.code_of($$select pg_temp.candidates('house')$$), 'TOOL_ARGUMENTS_INVALID', 'an operator can restrict a tool to its list');
update public.llm_providers set is_active = false where name = 'local-model';
select doesnt_match(pg_temp.candidates(null), 'local-model', 'without a server there is no such choice');

select is(
  (select input_micro_usd_per_mtok + output_micro_usd_per_mtok from private.price_at((select id from public.llm_providers where name = 'house'), 'any')),
  0::bigint, 'a model of a free provider costs 0'
);
select is(
  (select model from private.price_at(tests.create_provider('test'), 'any')), null, 'a model of another provider has no price'
);

select * from finish();
rollback;
