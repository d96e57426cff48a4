begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'priced', 1000000, 100000, 4000000);
select tests.claim((select id from made));
select private.begin_steps((select id from made), 1, 30, '[{"seq": 1, "kind": "model", "name": "priced"}]');
select private.yield_task((select id from made), 1, '[]', '{"seq": 1, "input_tokens": 1000, "output_tokens": 100, "is_final": false}');

select results_eq(
  'select model, input_tokens, output_tokens, cost_micro_usd, is_estimate from public.usage_events',
  $$values ('priced', 1000::bigint, 100::bigint, 1400::bigint, true)$$, 'on the ledger, as an estimate'
);
select is((select cost_micro_usd from public.tasks), 1400::bigint, 'on the task');
select is((select cost_micro_usd from private.job_totals), 1400::bigint, 'and on its job, whose budget it counts against');
select is(
  (select payload -> 'usage' ->> 'is_estimate' from public.task_events where type = 'model.interrupted'), 'true', 'the trace says so'
);
select ok((select works_alone from public.tasks), 'the next call is made alone');
select is((select interruptions from public.task_steps), 1, 'and its step knows why');

select * from finish();
rollback;
