begin;
set local search_path = public, extensions;
select plan(5);

insert into public.embedders (name, api, model, model_dimensions, window_tokens, max_batch_items)
values ('fixed', 'openai', 'm', 768, 480, 100);

select is(tests.code_of($$update public.embedders set model = 'other' where name = 'fixed'$$), 'EMBEDDER_FIXED', 'another model requires another name');
select is(tests.code_of($$update public.embedders set model_dimensions = 384 where name = 'fixed'$$), 'EMBEDDER_FIXED', 'other dimensions require another name');
select is(tests.code_of($$update public.embedders set name = 'other' where name = 'fixed'$$), 'EMBEDDER_FIXED', 'an embedder cannot be renamed');
select lives_ok($$update public.embedders set base_url = 'https://embed.example/v1', items_per_minute = 3000, reserved_for_queries = 100 where name = 'fixed'$$, 'address and limits may change');
select is(tests.code_of($$update public.embedders set reserved_for_queries = 3000 where name = 'fixed'$$), '23514', 'documents must keep a share');

select * from finish();
rollback;
