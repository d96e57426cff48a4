begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'priced', 1000000, 100000, 4000000);
create function pg_temp.use(p_seq int, p_model text) returns boolean language sql as $$
  select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(jsonb_build_object(
    'seq', p_seq, 'kind', 'model', 'state', 'done', 'output', '{}'::jsonb,
    'usage', jsonb_build_object('provider_id', tests.create_provider('test'), 'model', p_model, 'key_source', 'none',
      'input_tokens', 1000, 'cached_input_tokens', 400, 'output_tokens', 100))))
$$;

select pg_temp.use(1, 'unpriced');
select is((select cost_micro_usd from private.job_totals), null, 'a model without a price has a null cost');
select is((select cost_micro_usd from public.usage_events), null, 'the ledger has a null cost too');

select pg_temp.use(2, 'priced');
select is((select cost_micro_usd from private.job_totals), 1040::bigint, '600 + 400 cached / 10 + 100 * 4');
select is((select array[input_tokens, output_tokens] from private.job_totals), array[2000, 200]::bigint[], 'tokens are added to the job');
select private.finish_task(id, tests.epoch_of(id), '"done"') from made;
select is((select array[input_tokens, output_tokens, cost_micro_usd] from public.tasks), array[2000, 200, 1040]::bigint[], 'and to the task when it ends');

select * from finish();
rollback;
