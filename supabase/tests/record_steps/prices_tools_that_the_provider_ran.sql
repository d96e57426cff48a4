begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
insert into public.model_prices (
  provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok,
  output_micro_usd_per_mtok, web_search_micro_usd_per_call, code_execution_micro_usd_per_call
)
select tests.create_provider('test'), model, 3000000, 300000, 15000000, search_price, 500
from (values ('priced', 10000), ('half', null)) as priced (model, search_price);
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, (
  select jsonb_agg(jsonb_build_object(
    'seq', seq, 'kind', 'model', 'state', 'done',
    'output', jsonb_build_object(
      'text', '', 'tool_calls', '[]'::jsonb, 'reasoning', 'I search',
      'provider_tool_calls', '[{"name": "web_search", "input": {"query": "tide"}, "output": []}]'::jsonb),
    'usage', jsonb_build_object(
      'provider_id', tests.create_provider('test'), 'model', model, 'key_source', 'none',
      'input_tokens', 1000, 'output_tokens', 0, 'web_search_calls', searches, 'code_execution_calls', 3)
  ))
  from (values (1, 'priced', 2), (2, 'half', 1), (3, 'half', 0)) as called (seq, model, searches)
));

select results_eq(
  'select web_search_calls, code_execution_calls from public.usage_events order by step_seq',
  'values (2, 3), (1, 3), (0, 3)', 'the usage contains searches and programs'
);
select results_eq(
  'select cost_micro_usd from public.usage_events order by step_seq',
  'values (3000 + 2 * 10000 + 3 * 500::bigint), (null), (3000 + 3 * 500)',
  'the cost includes them, and is unknown where one of them has no price'
);
select is(
  (select cost_micro_usd from private.job_totals where master_task_id = (select id from made)),
  (3000 + 20000 + 1500 + 3000 + 1500)::bigint, 'the job''s cost includes every known price'
);
select results_eq(
  $$select data ->> 'reasoning', data #>> '{provider_tool_calls,0,input,query}'
    from public.task_events, private.event_data(task_id, type, payload) as data where type = 'model.completed' order by id limit 1$$,
  $$values ('I search', 'tide')$$, 'the trace reports both'
);

update public.agents set provider_tools = '{web_search}', model = 'half' where slug = 'worker-agent';
create temp table capped on commit drop as
  select tests.create_task('{"max_cost_micro_usd": 1000000}') as id;
select tests.claim((select id from capped));
select throws_ok(
  format($$select private.begin_steps(%L, %s, 30, '[{"seq": 1, "kind": "model"}]')$$, (select id from capped), tests.epoch_of((select id from capped))),
  'PT422', null, 'a job with a cost cap cannot call a model whose tools have no price'
);

select * from finish();
rollback;
