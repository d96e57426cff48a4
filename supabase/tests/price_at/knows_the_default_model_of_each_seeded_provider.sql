begin;
set local search_path = public, extensions;
select plan(3);

create temp table seeded on commit drop as
  select * from public.llm_providers
  where name in ('openai', 'anthropic', 'google', 'openrouter', 'ollama', 'demo');

select is((select count(*)::int from seeded), 6, 'the seed is installed');
select is_empty(
  $$select name, default_model from seeded where (private.price_at(id, default_model)).model is null$$,
  'each default model has a current price, so that costs are not null'
);
select is_empty(
  $$select name from seeded
    where requires_api_key and (private.price_at(id, default_model)).valid_from >= current_date$$,
  'each list price starts on its own date, not on that of the installation'
);

select * from finish();
rollback;
