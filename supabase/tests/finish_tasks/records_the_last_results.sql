begin;
set local search_path = public, extensions;
select plan(9);

insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'priced', 1000000, 100000, 4000000);
create temp table made on commit drop as
select place, tests.create_task() as id from generate_series(1, 3) as place;
select tests.claim(id) from made;
update public.tasks set deliveries = 3, runs_exclusively = true from made where tasks.id = made.id and place = 1;
-- The third has two model calls in one checkpoint, of which one has no price, and an earlier result.
select private.record_steps(id, tests.epoch_of(id), 30, jsonb_build_array(jsonb_build_object(
  'seq', 1, 'kind', 'model', 'state', 'done', 'output', '{"text": "early"}'::jsonb)))
from made where place = 3;
create function pg_temp.model_step(p_seq int, p_text text, p_model text) returns jsonb language sql as $$
  select jsonb_build_object(
    'seq', p_seq, 'kind', 'model', 'state', 'done', 'output', jsonb_build_object('text', p_text),
    'usage', jsonb_build_object('provider_id', tests.create_provider('test'), 'model', p_model, 'key_source', 'none',
      'input_tokens', 1000, 'output_tokens', 100))
$$;
create temp table finishes on commit drop as
select jsonb_agg(jsonb_build_object(
  'id', id, 'held_epoch', tests.epoch_of(id), 'output', 'The answer ' || place, 'reference', null,
  'steps', case place
    when 3 then jsonb_build_array(
      pg_temp.model_step(1, 'late', 'priced'), pg_temp.model_step(2, 'The answer 3', 'priced'), pg_temp.model_step(3, 'And', 'unpriced'))
    else jsonb_build_array(pg_temp.model_step(1, 'The answer ' || place, 'priced'))
  end
) order by place desc) as value
from made;

select results_eq(
  'select status from private.finish_tasks((select value from finishes))', array['completed', 'completed', 'completed'],
  'each task ends'
);
select results_eq(
  $$select place, seq, state, output ->> 'text' from task_steps join made on made.id = task_id order by place, seq$$,
  $$values (1, 1, 'done', 'The answer 1'), (2, 1, 'done', 'The answer 2'),
    (3, 1, 'done', 'early'), (3, 2, 'done', 'The answer 3'), (3, 3, 'done', 'And')$$,
  'with its last results; an earlier result stays'
);
select results_eq(
  'select input_tokens, output_tokens, cost_micro_usd from tasks join made using (id) order by place',
  'values (1000::bigint, 100::bigint, 1400::bigint), (1000, 100, 1400), (2000, 200, 1400)', 'their usage is added to the tasks'
);
select results_eq(
  'select input_tokens, output_tokens, cost_micro_usd from private.job_totals join made on made.id = master_task_id order by place',
  'values (1000::bigint, 100::bigint, 1400::bigint), (1000, 100, 1400), (2000, 200, 1400)', 'and to their jobs'
);
select results_eq(
  $$select array_agg(type order by event.id) from task_events as event join made on made.id = task_id
    where type in ('model.completed', 'task.completed') group by place order by place$$,
  $$values ('{model.completed,task.completed}'::text[]), ('{model.completed,task.completed}'),
    ('{model.completed,model.completed,model.completed,task.completed}')$$,
  'the events of the results come before the end'
);
select results_eq(
  $$select payload from private.task_events join made on made.id = task_id where type = 'task.completed' and place < 3 order by place$$,
  $$values ('{"step_seq": 1}'::jsonb), ('{"step_seq": 1}')$$, 'an output that is the last answer is stored once'
);
select results_eq(
  'select deliveries, runs_exclusively from tasks join made using (id) where place < 3 order by place', 'values (1, false), (1, false)',
  'a step that ended shows that earlier deliveries were no crash loop'
);
select results_eq(
  'select status from private.finish_tasks((select value from finishes))', array['lost', 'lost', 'lost'], 'a second end is refused'
);
select is((select count(*) from usage_events), 4::bigint, 'and its results are not recorded again');

select * from finish();
rollback;
