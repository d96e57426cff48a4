begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as
select place, tests.create_task() as id from generate_series(1, 2) as place;
select tests.claim(id) from made;
create temp table last_step on commit drop as
select jsonb_build_array(jsonb_build_object(
  'seq', 1, 'kind', 'model', 'state', 'done', 'output', '{"text": "done"}'::jsonb,
  'usage', jsonb_build_object('provider_id', tests.create_provider('test'), 'model', 'm', 'key_source', 'none',
    'input_tokens', 7, 'output_tokens', 3))) as value;
create function pg_temp.finish(p_place int, p_epoch bigint) returns text language sql as $$
  select private.finish_task(id, p_epoch, '"done"', p_steps => (select value from last_step)) from made where place = p_place
$$;

select is(
  tests.code_of('select pg_temp.finish(1, 1)'), 'LEASE_LOST', 'a lost lease is refused'
);
select is((select count(*) from task_steps), 0::bigint, 'and nothing is recorded');
select is((select pg_temp.finish(1, tests.epoch_of(id)) from made where place = 1), 'completed', 'a held task ends');
select public.cancel_task((select id from made where place = 2));
select is((select pg_temp.finish(2, tests.epoch_of(id)) from made where place = 2), 'cancelled', 'a cancelled one ends as cancelled');
select results_eq(
  'select place, seq, state from task_steps join made on made.id = task_id order by place', $$values (1, 1, 'done'), (2, 1, 'done')$$,
  'the last results of both are recorded'
);
select results_eq(
  'select input_tokens, output_tokens from tasks join made using (id) order by place', 'values (7::bigint, 3::bigint), (7, 3)',
  'and cost money'
);

select * from finish();
rollback;
