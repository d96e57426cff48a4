begin;
set local search_path = public, extensions;
select plan(10);

insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items, items_per_minute, reserved_for_queries)
values ('slow', 'openai', 'm', 768, 480, 100, 15, 3), ('free', 'openai', 'm', 768, 480, 100, null, 0);
create function pg_temp.take(p_items int, p_is_query boolean, p_second int)
returns text language sql as $$
  select granted || ' now, more in ' || wait_ms
  from private.take_embedding_tokens('slow', p_items, p_is_query, '2026-01-01T00:00:00Z'::timestamptz + make_interval(secs => p_second));
$$;

select is(pg_temp.take(10, false, 0), '10 now, more in 0', 'documents use what is available');
select is(pg_temp.take(10, false, 10), '2 now, more in 51000', 'documents cannot use the last three');
select is(pg_temp.take(1, false, 11), '0 now, more in 50000', 'documents wait for more');
select is(pg_temp.take(5, true, 12), '3 now, more in 49000', 'the last three are reserved for queries');
select is(pg_temp.take(1, true, 60), '0 now, more in 1000', 'the limit covers a minute and one second');
select is(pg_temp.take(99, false, 61), '10 now, more in 10000', 'the first ten are available again');
select is(pg_temp.take(1, true, 0), '0 now, more in 10000', 'a clock that was set back frees nothing');
select is(pg_temp.take(5, true, 200), '5 now, more in 0', 'queries may use what documents leave');
select is((select granted from private.take_embedding_tokens('free', 5000, false)), 5000, 'without a limit everything is granted');
select is(tests.code_of($$select private.take_embedding_tokens('nobody', 1, true)$$), 'EMBEDDER_NOT_FOUND', 'an unknown name is refused');

select * from finish();
rollback;
