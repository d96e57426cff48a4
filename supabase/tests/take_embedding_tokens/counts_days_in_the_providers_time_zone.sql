begin;
set local search_path = public, extensions;
select plan(6);

insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items, items_per_minute, items_per_day, reserved_for_queries, quota_time_zone)
values ('daily', 'google', 'm', 768, 480, 100, 100, 20, 25, 'America/Los_Angeles');
create function pg_temp.take(p_items int, p_is_query boolean, p_at timestamptz)
returns text language sql as $$
  select concat_ws(' ', granted, pause_reason, to_char(paused_until at time zone 'UTC', 'DD HH24:MI'))
  from private.take_embedding_tokens('daily', p_items, p_is_query, p_at);
$$;

select is(pg_temp.take(30, false, '2026-01-01T20:00:00Z'), '15 quota_exhausted 02 08:00', 'documents leave a quarter of the day''s quota to queries');
select is(pg_temp.take(1, false, '2026-01-01T22:00:00Z'), '0 quota_exhausted 02 08:00', 'the answer contains the end of the pause');
select is(pg_temp.take(5, true, '2026-01-01T23:00:00Z'), '5', 'queries use their share');
select is(pg_temp.take(1, true, '2026-01-02T07:59:59Z'), '0 quota_exhausted 02 08:00', 'the query share can be exhausted too');
select is(pg_temp.take(1, false, '2026-01-02T08:00:00Z'), '1', 'midnight in California begins a new day');
select is((select day_item_count || '/' || day_document_count from private.embedding_buckets where embedder = 'daily'), '1/1', 'the new day starts from zero');

select * from finish();
rollback;
