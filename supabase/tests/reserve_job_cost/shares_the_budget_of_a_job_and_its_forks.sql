begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as
  select n, tests.create_task('{"max_cost_micro_usd": 400}') as id from generate_series(1, 2) as n;
select * from private.claim_tasks('w1', 5, 30);
insert into private.budget_shares (job_id, budget_job_id) select fork.id, job.id from made job, made fork where job.n = 1 and fork.n = 2;
insert into public.model_prices (provider_id, model, input_micro_usd_per_mtok, cached_input_micro_usd_per_mtok, output_micro_usd_per_mtok)
values (tests.create_provider('test'), 'priced', 1000000, 1000000, 1000000);
create function pg_temp.reserve(p_n int) returns bigint language sql as $$
  select max_output_tokens from private.reserve_job_cost(
    (select id from made where n = p_n), tests.create_provider('test'), 'priced', 100, 100, false)
$$;

select is(pg_temp.reserve(1), 100::bigint, 'a job reserves');
select is(pg_temp.reserve(2), 100::bigint, 'its fork reserves');
select is(tests.code_of('select pg_temp.reserve(1)'), 'BUDGET_EXCEEDED', 'together they stay within the cap');
select private.book_cut_call((select id from made where n = 2), '{"seq": 1, "input_tokens": 1, "output_tokens": 1}');
select is(tests.code_of('select pg_temp.reserve(1)'), 'BUDGET_EXCEEDED', 'a step that never began releases nothing');
insert into public.task_steps (task_id, seq, kind, state, epoch) select id, 1, 'model', 'started', 1 from made where n = 2;
select private.book_cut_call((select id from made where n = 2), '{"seq": 1, "input_tokens": 1, "output_tokens": 1}');
select is(pg_temp.reserve(1), 100::bigint, 'the reservation of a call that was cut off is released');

select * from finish();
rollback;
