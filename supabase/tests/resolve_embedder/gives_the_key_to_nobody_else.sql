begin;
set local search_path = public, extensions;
select plan(8);

select tests.create_user('owner');
insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items, requires_api_key, api_key_secret_name, is_active)
values ('keyed', 'google', 'm', 768, 480, 100, true, 'TEST_EMBEDDER_KEY', true), ('off', 'google', 'm', 768, 480, 100, false, null, false);

select is(tests.code_of($$select private.resolve_embedder('keyed')$$), 'EMBEDDER_KEY_MISSING', 'no key yet');
select vault.create_secret('the-key', 'TEST_EMBEDDER_KEY');
select is((select secret from private.resolve_embedder('keyed')), 'the-key', 'the key of Vault');
select is(tests.code_of($$select private.resolve_embedder('off')$$), 'EMBEDDER_NOT_FOUND', 'one that is switched off is not there');
select is(tests.code_of($$select private.resolve_embedder('nobody')$$), 'EMBEDDER_NOT_FOUND', 'nor one that never was');

select tests.act_as_user('owner');
select lives_ok($$select name, model, similarity_floor from public.embedders$$, 'users read what embedders there are');
select is(tests.code_of($$select api_key_secret_name from public.embedders$$), '42501', 'but not the names of their secrets');
select is(tests.code_of($$select base_url from public.embedders$$), '42501', 'nor their addresses');
select is(tests.code_of($$select private.resolve_embedder('keyed')$$), '42501', 'nor their keys');

select * from finish();
rollback;
