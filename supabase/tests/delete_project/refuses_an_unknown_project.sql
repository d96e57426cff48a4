begin;
set local search_path = public, extensions;
select plan(1);

select throws_like(
  $$ select private.delete_project('nothing') $$,
  'Cannot use project ''nothing''%'
);

select * from finish();
rollback;
