begin;
set local search_path = public, extensions;
select plan(4);

insert into public.model_windows (provider_id, model_prefix, window_tokens, max_output_tokens) values
  (null, 'tiny', 9000, 2000), (null, 'tiny-long', 90000, null), (tests.create_provider('test'), 'tiny', 9000, 3000);

select is(private.model_max_tokens(null, 'acme/tiny-1'), 2000, 'the vendor before the name is ignored');
select is(private.model_max_tokens(null, 'tiny-long-1'), 2000, 'an entry that does not say it leaves it to a shorter prefix');
select is(private.model_max_tokens(tests.create_provider('test'), 'tiny-1'), 3000, 'an entry for the provider takes precedence');
select is(private.model_max_tokens(null, 'unheard-of'), null, 'of other models it is not known');

select * from finish();
rollback;
