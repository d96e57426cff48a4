begin;
set local search_path = public, extensions;
select plan(14);

create temp table made on commit drop as select tests.create_task('{"max_cost_micro_usd": 400}') as id;
select tests.claim((select id from made));
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'priced', 1000000, 1000000, 1000000);
create function pg_temp.reserve(p_output bigint default null, p_may_wait boolean default false, p_model text default 'priced')
returns private.job_reservation language sql as $$
  select private.reserve_job_cost((select id from made), tests.create_provider('test'), p_model, 100, p_output, p_may_wait)
$$;
create function pg_temp.settle(p_id uuid) returns void language sql as $$
  select private.record_usage(jsonb_build_object('task_id', (select id from made), 'provider_id', tests.create_provider('test'),
    'model', 'priced', 'key_source', 'none', 'input_tokens', 100, 'output_tokens', 20, 'reservation_id', p_id))
$$;

create temp table first_call on commit drop as select * from pg_temp.reserve();
select is((select max_output_tokens from first_call), 300::bigint, 'a call may write what the cap allows beside its input');
select is((pg_temp.reserve(p_may_wait => true)).must_wait, true, 'the next call waits for it');
select is(tests.code_of('select pg_temp.reserve()'), 'BUDGET_EXCEEDED', 'or is refused before it is made');
select pg_temp.settle(id) from first_call;
select is((pg_temp.reserve(50)).max_output_tokens, 50::bigint, 'the actual cost replaces the reservation');
select is((select sum(amount_micro_usd)::int from private.job_reservations), 150, 'only the agent''s own limit is reserved');
select is((pg_temp.reserve(30)).max_output_tokens, 30::bigint, 'calls that fit together run in parallel');
select is(tests.code_of('select pg_temp.reserve(30)'), 'BUDGET_EXCEEDED', 'and no more than fit');
select private.release_spending(id) from private.job_reservations;
select is((pg_temp.reserve(1000)).max_output_tokens, 180::bigint, 'calls that were not answered cost nothing');
update public.tasks set epoch = epoch + 1;
select is((pg_temp.reserve(1000)).max_output_tokens, 180::bigint, 'nor do those of a worker that lost the task');
update private.job_reservations set expires_at = clock_timestamp() - interval '1 second';
select is((pg_temp.reserve(1000)).max_output_tokens, 180::bigint, 'nor calls that were lost long ago');
update private.job_totals set cost_micro_usd = 290;
select private.end_job_reservations(id) from made;
select is(tests.code_of('select pg_temp.reserve(p_may_wait => true)'), 'BUDGET_EXCEEDED', 'a call that the cap never allows does not wait');
select is(tests.code_of($$select pg_temp.reserve(p_model => 'unpriced')$$), 'PRICE_UNKNOWN', 'a cost cap needs a price');
update public.tasks set budget = '{"max_steps": 5}';
select is((pg_temp.reserve(p_model => 'unpriced')).id, null, 'nothing is reserved without a cost cap');
select is((select count(*) from private.job_reservations)::int, 0, 'nothing remains');

select * from finish();
rollback;
