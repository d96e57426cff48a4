begin;
set local search_path = public, extensions;
select plan(4);

select tests.create_provider('test');
insert into public.model_windows (provider_id, model_prefix, window_tokens) values
  (null, 'tiny', 2000), (null, 'tiny-long', 9000), (tests.create_provider('test'), 'tiny', 3000);

select is(private.model_window(null, 'tiny-long-1'), 9000, 'the longest prefix wins');
select is(private.model_window(null, 'acme/tiny-1'), 2000, 'the vendor before the name is ignored');
select is(
  private.model_window(tests.create_provider('test'), 'tiny-long-1'), 3000,
  'an entry for the provider takes precedence'
);
select is(private.model_window(null, 'unheard-of'), 128000, 'other models have the default window');

select * from finish();
rollback;
