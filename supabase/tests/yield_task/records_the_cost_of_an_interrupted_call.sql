begin;
set local search_path = public, extensions;
select plan(7);

create temp table made on commit drop as select tests.create_task() as id;
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'priced', 1000000, 100000, 4000000);
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model", "name": "priced"}]');
select private.yield_task((select id from made), tests.epoch_of((select id from made)), '[]', '{"seq": 1, "input_tokens": 1000, "output_tokens": 100, "is_final": false}');

select results_eq(
  'select model, input_tokens, output_tokens, cost_micro_usd, is_estimate from public.usage_events',
  $$values ('priced', 1000::bigint, 100::bigint, 1400::bigint, true)$$, 'the ledger has an estimate'
);
select is((select cost_micro_usd from public.tasks), 1400::bigint, 'the task has the cost');
select is((select cost_micro_usd from private.job_totals), 1400::bigint, 'the job''s budget includes it');
select is(
  (select payload -> 'usage' ->> 'is_estimate' from public.task_events where type = 'model.interrupted'), 'true', 'the trace marks the usage as an estimate'
);
select is((select interruptions from public.task_steps), 1, 'the step counts the interruption');
select ok(not (select runs_exclusively from public.tasks), 'the next call may run beside others');

select tests.claim((select id from made), 'w2');
select private.yield_task((select id from made), tests.epoch_of((select id from made)), '[]', '{"seq": 1, "input_tokens": 1, "output_tokens": 1, "is_final": false}');
select ok((select runs_exclusively from public.tasks), 'after a second interruption, the call runs without other tasks');

select * from finish();
rollback;
