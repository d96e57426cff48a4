begin;
set local search_path = public, extensions;
select plan(7);

select tests.create_user('owner');
-- Two tasks on an old day, one of which calls the model three times, and a call of today.
create temp table used on commit drop as
select gen_random_uuid() as one, gen_random_uuid() as other, tests.user_id('owner') as owner;
insert into public.usage_events
  (user_id, task_id, agent_slug, model, key_source, input_tokens, output_tokens, cost_micro_usd, mcp_name, created_at)
select owner, task_id, 'worker-agent', 'm', 'none', 3, 1, cost, mcp_name, at
from used, lateral (
  values (one, 5, null, now() - interval '40 days'), (one, null, null, now() - interval '40 days'),
    (other, 7, null, now() - interval '40 days'), (one, 2, null, now() - interval '40 days'),
    (one, 11, 'notes', now() - interval '40 days'), (other, 13, null, now())
) as call (task_id, cost, mcp_name, at);
create temp table before on commit drop as select * from public.agent_usage;

update private.settings set value = '1' where key = 'keep_usage_days';
select is(private.delete_old_usage(2), 2, 'no more than the requested number is deleted');
select is(private.delete_old_usage(10), 3, 'then the rest of the old days');
select is((select count(*) from public.usage_events), 1::bigint, 'recent calls remain');
select results_eq(
  $$select call_count, task_count, input_tokens, cost_micro_usd, unpriced_call_count from public.usage_days where mcp_name is null$$,
  $$values (4::bigint, 2::bigint, 12::bigint, 14::bigint, 1::bigint)$$, 'the batches of a day are one row, and each task counts once'
);
select set_eq(
  $$select day, agent_slug, call_count, input_tokens, cost_micro_usd, unpriced_call_count from public.agent_usage$$,
  $$select day, agent_slug, call_count, input_tokens, cost_micro_usd, unpriced_call_count from before$$,
  'agent_usage shows the same'
);
select tests.act_as_user('owner');
select results_eq(
  $$select label, model_call_count, cost_micro_usd from public.usage_report('model', now() - interval '60 days')$$,
  $$values ('m', 6::bigint, 38::bigint)$$, 'a report includes the deleted calls'
);
select tests.act_as_user('stranger');
select is_empty('select from public.usage_days', 'other users do not see the sums');

select * from finish();
rollback;
