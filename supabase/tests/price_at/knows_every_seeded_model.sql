begin;
set local search_path = public, extensions;
select plan(9);

create temp table seeded on commit drop as
  select provider.name, provider.requires_api_key, used.*
  from private.models_in_use() as used
  join public.llm_providers as provider on provider.id = used.provider_id
  where provider.name in ('openai', 'anthropic', 'google', 'openrouter', 'ollama', 'demo');

select results_eq(
  'select count(*)::int from seeded where used_by like ''provider %'' union all
   select count(*)::int from seeded where used_by like ''tool %'' union all
   select count(*)::int from seeded where used_by like ''agent %'' union all
   select count(*)::int from seeded where used_by like ''embedder %''',
  'values (6), (5), (3), (3)',
  'the defaults of providers and tools, the demo''s agents and the embedders with a provider are seeded'
);
select is_empty(
  $$select name, model, used_by from seeded where (private.price_at(provider_id, model)).model is null$$,
  'each has a current price, so that costs are not null and a job with a cost cap can start'
);
select is_empty(
  $$select name, model from seeded
    where requires_api_key and (private.price_at(provider_id, model)).valid_from >= current_date$$,
  'each list price starts on its own date, not on that of the installation'
);
select is_empty(
  $$select name, model from seeded
    where used_by not like 'embedder %' and not exists (
      select from public.model_windows as known
      where known.model_prefix <> '' and starts_with(regexp_replace(seeded.model, '^.*/', ''), known.model_prefix)
    )$$,
  'each chat model has a context window of its own, not that of unknown models'
);
select results_eq(
  $$select distinct seeded.model, price.retires_on from seeded
    join public.model_prices as price using (provider_id, model)
    where price.retires_on is not null order by 1$$,
  $$values ('claude-haiku-5-5', date '2027-10-07'), ('claude-sonnet-5-5', date '2027-09-28'),
    ('gemini-embedding-001', date '2028-05-14')$$,
  'the retirement of a seeded model is known where its provider publishes a date'
);
select is_empty(
  'select model from public.model_prices group by provider_id, model having count(distinct retires_on) > 1',
  'all prices of a model name the same retirement'
);

select is_empty(
  $$select seeded.name, seeded.model from seeded
    where seeded.name <> 'demo' and not exists (
      select from private.model_catalog as listed where (listed.provider, listed.model) = (seeded.name, seeded.model)
    )$$,
  'the catalog describes each, with its source and the day on which it was read'
);
select is_empty(
  $$select listed.model, listed.window_tokens, private.model_window(provider.id, listed.model)
    from private.model_catalog as listed join public.llm_providers as provider on provider.name = listed.provider
    where listed.abilities <> '{embeddings}'
      and listed.window_tokens <> private.model_window(provider.id, listed.model)$$,
  'its windows are those that calls use'
);
select is_empty(
  $$select distinct seeded.model, price.retires_on from seeded
    join public.model_prices as price using (provider_id, model)
    where price.retires_on <= current_date + 60$$,
  'no seeded model retires within 60 days: seed another one, or the date that its provider publishes now'
);

select * from finish();
rollback;
