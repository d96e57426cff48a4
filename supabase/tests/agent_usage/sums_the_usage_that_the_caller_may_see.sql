begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task(p_owner => o) as id from unnest(array['owner', 'stranger']) as o;
create temp table claimed on commit drop as select * from private.claim_tasks('w1', 2, 30);
select private.record_steps(task_id, epoch, 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {},
  "usage": {"model": "m", "key_source": "none", "input_tokens": 3, "output_tokens": 1}}]') from claimed;

select tests.act_as_user('owner');
select results_eq(
  'select agent_slug, model, call_count, input_tokens, cost_micro_usd, unpriced_call_count from public.agent_usage',
  $$values ('worker-agent', 'm', 1::bigint, 3::bigint, null::bigint, 1::bigint)$$, 'a user sees their own usage'
);
select tests.act_as_service();
select is((select sum(input_tokens) from public.agent_usage)::int, 6, 'the service sees all usage');
select tests.act_as_nobody();

delete from public.tasks;
select is((select sum(input_tokens) from public.agent_usage where agent_slug = 'worker-agent')::int, 6, 'usage remains after the tasks are deleted');

select * from finish();
rollback;
