begin;
set local search_path = public, extensions;
select plan(4);

update public.embedders set preference = null, is_active = true;
insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items, requires_api_key, api_key_secret_name, preference)
values ('keyed', 'google', 'm', 768, 480, 100, true, 'TEST_EMBEDDER_KEY', 1), ('local', 'openai', 'm', 384, 220, 16, false, null, 2);

select is(private.default_embedder(), 'local', 'without a key the next embedder is chosen');
select vault.create_secret('the-key', 'TEST_EMBEDDER_KEY');
select is(private.default_embedder(), 'keyed', 'with a key the first embedder is chosen');
update public.embedders set is_active = false where name in ('keyed', 'local');
select is(private.default_embedder(), null, 'none is chosen when none is usable');
select ok(exists (select from public.embedders where name = 'hash768@1' and is_active), 'the word-hash embedder is never chosen automatically');

select * from finish();
rollback;
