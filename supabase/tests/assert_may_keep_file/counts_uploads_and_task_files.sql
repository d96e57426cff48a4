begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_user('owner'), tests.create_user('stranger');
update private.quotas set amount = 100 where name = 'stored_bytes';
insert into storage.objects (bucket_id, name, metadata)
values ('supaswarm-data', tests.user_id('owner') || '/notes.md', '{"size": 60}');

select lives_ok(
  $$ select private.assert_may_keep_file(tests.user_id('owner'), 40) $$,
  'a file within the quota is accepted'
);
select throws_ok(
  $$ select private.assert_may_keep_file(tests.user_id('owner'), 41) $$,
  'PT429', null,
  'a file above the quota is refused; earlier files count'
);
select lives_ok(
  $$ select private.assert_may_keep_file(tests.user_id('stranger'), 100) $$,
  'each user has a separate quota'
);

select * from finish();
rollback;
