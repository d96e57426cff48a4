begin;
set local search_path = public, extensions;
select plan(3);

select vault.create_secret('first', 'tests/first');
select vault.create_secret('second', 'tests/second');

select is(private.resolve_named_secrets('["tests/first", "tests/second", "tests/first"]'),
  '{"tests/first": "first", "tests/second": "second"}', 'by name, each once');
select is(private.resolve_named_secrets('[]'), '{}', 'none for none');
select is(tests.code_of($$select private.resolve_named_secrets('["tests/first", "tests/none"]')$$),
  'SECRET_NOT_FOUND', 'one is missing');

select * from finish();
rollback;
