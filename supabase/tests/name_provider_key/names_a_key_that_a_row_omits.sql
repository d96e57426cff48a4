begin;
set local search_path = public, extensions;
select plan(4);

insert into public.llm_providers (name, display_name, base_url, default_model, requires_api_key, is_active)
values ('my-vllm', 'Mine', 'https://llm.example.com/v1', 'small', true, true);
insert into public.llm_providers (name, display_name, default_model) values ('other', 'Other', 'small');
insert into public.llm_providers (name, display_name, default_model, requires_api_key)
values ('open', 'Open', 'small', false);
insert into public.llm_providers (name, display_name, default_model, api_key_secret_name)
values ('named', 'Named', 'small', 'MINE');

select is((select api_key_secret_name from public.llm_providers where name = 'my-vllm'), 'MY_VLLM_API_KEY', 'the key name derives from the provider''s name');
select is((select api_key_secret_name from public.llm_providers where name = 'other'), 'OTHER_API_KEY', 'a key is required by default');
select is((select api_key_secret_name from public.llm_providers where name = 'open'), null, 'a provider without a key has no key name');
select is((select api_key_secret_name from public.llm_providers where name = 'named'), 'MINE', 'a given name is kept');

select * from finish();
rollback;
