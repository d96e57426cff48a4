begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task('{"max_steps": 2, "max_output_tokens": 10}') as id;
select tests.claim((select id from made));
create function pg_temp.begin_model(p_seq int) returns text language sql as $$
  select tests.code_of(format('select private.begin_steps(%L, %s, 30, %L)', (select id from made), tests.epoch_of((select id from made)),
    jsonb_build_array(jsonb_build_object('seq', p_seq, 'kind', 'model'))))
$$;

select is(pg_temp.begin_model(1), 'none', 'a call within the caps begins');
select is(pg_temp.begin_model(3), 'STEPS_EXCEEDED', 'a call above the step cap is refused');
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {},
  "usage": {"model": "m", "key_source": "none", "output_tokens": 10}}]');
select is(pg_temp.begin_model(2), 'BUDGET_EXCEEDED', 'a call above the token cap is refused');

update public.tasks set budget = '{"max_cost_micro_usd": 5}';
select is(pg_temp.begin_model(2), 'PRICE_UNKNOWN', 'a cost cap needs a price');

select * from finish();
rollback;
