begin;
set local search_path = public, extensions;
select plan(3);

insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'priced', 1000000, 0, 2000000);
create temp table made on commit drop as select tests.create_family(2) as id;
select private.record_usage(jsonb_build_object('provider_id', tests.create_provider('test'), 'model', 'priced',
  'key_source', 'none', 'user_id', created_by, 'task_id', id, 'input_tokens', 3, 'output_tokens', 1))
from public.tasks where parent_id is not null;
select private.record_usage(jsonb_build_object('model', 'unpriced',
  'key_source', 'none', 'user_id', tests.user_id('owner'), 'task_id', id, 'input_tokens', 10, 'output_tokens', 10))
from made;
select tests.create_task(p_owner => 'stranger');

select tests.act_as_user('owner');
select results_eq(
  'select task_count, input_tokens, output_tokens, cost_micro_usd from public.job_usage',
  $$values (3::bigint, 16::bigint, 12::bigint, 10::bigint)$$,
  'an owner sees the usage of each of their jobs, subtasks included'
);
select tests.act_as_service();
select results_eq(
  'select task_count, cost_micro_usd from public.job_usage order by task_count',
  $$values (1::bigint, null::bigint), (3, 10)$$,
  'the service sees all jobs; the cost is null without a priced model call'
);
select tests.act_as_anon();
select is(tests.code_of('select * from public.job_usage'), '42501', 'no other role may read it');
select tests.act_as_nobody();

select * from finish();
rollback;
