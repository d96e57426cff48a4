begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task('{"max_wall_seconds": 60}') as id;
select tests.claim((select id from made));
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'test-model', 1000000, 0, 0);
create function pg_temp.message_of_model_call() returns text language plpgsql as $$
begin
  perform private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 2, "kind": "model"}]');
  delete from public.task_steps where seq = 2;
  return 'none';
exception when sqlstate 'PT422' then
  return sqlerrm;
end $$;

select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, jsonb_build_array(jsonb_build_object(
  'seq', 1, 'kind', 'model', 'state', 'done', 'output', '{}'::jsonb, 'usage', jsonb_build_object(
    'provider_id', tests.create_provider('test'), 'model', 'test-model', 'key_source', 'none',
    'input_tokens', 7, 'output_tokens', 2))));
select is(pg_temp.message_of_model_call(), 'none', 'the job is within its time');
update public.tasks set started_at = now() - interval '61 seconds';
select is(pg_temp.message_of_model_call(), 'Cannot call the model: the job has used up its max_wall_seconds of 60', 'the wall-clock time is exhausted');
update public.tasks set budget = '{"max_input_tokens": 7}';
select is(pg_temp.message_of_model_call(), 'Cannot call the model: the job has used up its max_input_tokens of 7', 'the input tokens are exhausted');
update public.tasks set budget = '{"max_output_tokens": 2}';
select is(pg_temp.message_of_model_call(), 'Cannot call the model: the job has used up its max_output_tokens of 2', 'the output tokens are exhausted');
update public.tasks set budget = '{"max_cost_micro_usd": 7}';
select is(pg_temp.message_of_model_call(), 'Cannot call the model: the job has used up its max_cost_micro_usd of 7', 'the cost is exhausted');
update public.tasks set budget = '{"max_cost_micro_usd": 8, "max_input_tokens": null}';
select is(pg_temp.message_of_model_call(), 'none', 'the remainder can be spent, and null is no cap');

select * from finish();
rollback;
