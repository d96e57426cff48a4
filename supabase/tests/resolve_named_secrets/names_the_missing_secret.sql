begin;
set local search_path = public, extensions;
select plan(3);

select vault.create_secret('first', 'tests/first');
select vault.create_secret('second', 'tests/second');

select is(private.resolve_named_secrets('["tests/first", "tests/second", "tests/first"]', null),
  '{"tests/first": "first", "tests/second": "second"}', 'secrets are returned by name, each once');
select is(private.resolve_named_secrets('[]', null), '{}', 'no names return no secrets');
select is(tests.code_of($$select private.resolve_named_secrets('["tests/first", "tests/none"]', null)$$),
  'SECRET_NOT_FOUND', 'a missing secret is refused');

select * from finish();
rollback;
