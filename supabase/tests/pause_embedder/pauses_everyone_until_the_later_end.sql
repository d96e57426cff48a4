begin;
set local search_path = public, extensions;
select plan(6);

insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items)
values ('paused', 'google', 'm', 768, 480, 100);
create function pg_temp.take(p_at timestamptz)
returns text language sql as $$
  select concat_ws(' ', granted, wait_ms, pause_reason) from private.take_embedding_tokens('paused', 1, true, p_at);
$$;

select is(private.pause_embedder('paused', '2026-01-01T00:10:00Z', 'quota_exhausted'), '2026-01-01T00:10:00Z', 'a pause is stored');
select is(private.pause_embedder('paused', '2026-01-01T00:01:00Z', 'rate_limited'), '2026-01-01T00:10:00Z', 'a shorter pause does not end it');
select is(pg_temp.take('2026-01-01T00:00:00Z'), '0 600000 quota_exhausted', 'nothing is granted during the pause, queries included');
select is(private.pause_embedder('paused', '2026-01-01T00:11:00Z', 'rate_limited'), '2026-01-01T00:11:00Z', 'a longer pause extends it');
select is(pg_temp.take('2026-01-01T00:10:30Z'), '0 30000 rate_limited', 'the answer contains the reason');
select is(pg_temp.take('2026-01-01T00:11:00Z'), '1 0', 'afterwards everything continues');

select * from finish();
rollback;
