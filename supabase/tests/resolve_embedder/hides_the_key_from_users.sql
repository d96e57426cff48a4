begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner');
insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items, requires_api_key, api_key_secret_name, is_active)
values ('keyed', 'google', 'm', 768, 480, 100, true, 'TEST_EMBEDDER_KEY', true), ('off', 'google', 'm', 768, 480, 100, false, null, false);

select is(tests.code_of($$select private.resolve_embedder('keyed')$$), 'EMBEDDER_KEY_MISSING', 'the key is missing');
select vault.create_secret('the-key', 'TEST_EMBEDDER_KEY');
select is((select secret from private.resolve_embedder('keyed')), 'the-key', 'the key is read from Vault');
select is(tests.code_of($$select private.resolve_embedder('off')$$), 'EMBEDDER_NOT_FOUND', 'an inactive embedder is not found');
select is(tests.code_of($$select private.resolve_embedder('nobody')$$), 'EMBEDDER_NOT_FOUND', 'an unknown embedder is not found');

select tests.act_as_user('owner');
select lives_ok($$select name, model, similarity_floor from public.embedders$$, 'users can read which embedders exist');
select is(tests.code_of($$select api_key_secret_name from public.embedders$$), '42501', 'users cannot read the names of secrets');
select is(tests.code_of($$select base_url from public.embedders$$), '42501', 'users cannot read addresses');
select is(tests.code_of($$select private.resolve_embedder('keyed')$$), '42501', 'users cannot read keys');

select * from finish();
rollback;
