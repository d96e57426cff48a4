begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
insert into public.model_prices (
  provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
  cache_write_input_micro_usd_per_mtok, output_micro_usd_per_mtok
)
select tests.create_provider('test'), model, 3000000, 300000, write_price, 15000000
from (values ('dear', 3750000), ('plain', null)) as priced (model, write_price);
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, (
  select jsonb_agg(jsonb_build_object(
    'seq', seq, 'kind', 'model', 'state', 'done', 'output', '{"text": "", "tool_calls": []}'::jsonb,
    'usage', jsonb_build_object(
      'provider_id', tests.create_provider('test'), 'model', model, 'key_source', 'none',
      'input_tokens', 1000, 'cached_input_tokens', 600, 'cache_write_input_tokens', 200, 'output_tokens', 0)
  ))
  from (values (1, 'dear'), (2, 'plain')) as called (seq, model)
));

select results_eq(
  'select cache_write_input_tokens from public.usage_events order by step_seq',
  $$values (200::bigint), (200)$$, 'the usage contains the cache writes'
);
select is(
  (select cost_micro_usd from public.usage_events where model = 'dear'),
  (200 * 3 + 600 * 0.3 + 200 * 3.75)::bigint, 'cache writes have their own price'
);
select is(
  (select cost_micro_usd from public.usage_events where model = 'plain'),
  (400 * 3 + 600 * 0.3)::bigint, 'cache writes without a price count as input'
);

select * from finish();
rollback;
