begin;
set local search_path = public, extensions;
select plan(5);

insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
  output_micro_usd_per_mtok, above_input_tokens, valid_from)
select tests.create_provider('test'), 'banded', price.input, 0, price.output, price.above, price.valid_from::timestamptz
from (values (10, 100, 0, '2026-01-01'), (50, 500, 1000, '2026-01-01'), (20, 200, 0, '2026-02-01'), (60, 600, 1000, '2026-02-01'),
  (90, 900, 0, '2999-01-01')) as price (input, output, above, valid_from);

create function pg_temp.input_price(p_tokens bigint) returns bigint language sql as $$
  select (private.price_at(tests.create_provider('test'), 'banded', p_tokens)).input_micro_usd_per_mtok;
$$;
create function pg_temp.cost_of(p_tokens bigint) returns bigint language sql as $$
  select private.record_usage(jsonb_build_object('provider_id', tests.create_provider('test'), 'model', 'banded',
    'key_source', 'organisation', 'input_tokens', p_tokens, 'output_tokens', 1000000));
  select cost_micro_usd from public.usage_events order by id desc limit 1;
$$;

select is(pg_temp.input_price(1000), 20::bigint, 'a prompt at the limit has the price of short prompts');
select is(pg_temp.input_price(1001), 60::bigint, 'a prompt above the limit has the price of long prompts');
select is(pg_temp.cost_of(1000), 200::bigint, 'a short call costs its output at the price of short prompts');
select is(pg_temp.cost_of(1001), 600::bigint, 'a long call costs its output at the price of long prompts');
select is(
  (private.price_at(tests.create_provider('test'), 'banded')).input_micro_usd_per_mtok, 20::bigint,
  'without a number of tokens, the price of short prompts is returned'
);

select * from finish();
rollback;
