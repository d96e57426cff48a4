begin;
set local search_path = public, extensions;
select plan(4);

select is(
  private.add_project('notes', null, null, null, null, null, 'unused') ->> 'webhook_secret', null,
  'a folder has no webhook, so it has no secret'
);
select private.add_project('wiki', 'acme/wiki', null, null, null, null, 'secret');
select throws_ok(
  $$ select private.add_project('wiki', null, null, null, null, null, 'secret') $$,
  'PT409', 'Cannot index a folder as project ''wiki'': the project follows the repository acme/wiki'
);
select is(
  private.add_project('notes', 'acme/notes', null, null, null, null, 'fresh') ->> 'webhook_secret', 'fresh',
  'a folder project can later follow a repository'
);
select is((select github_repo from public.projects where slug = 'notes'), 'acme/notes');

select * from finish();
rollback;
