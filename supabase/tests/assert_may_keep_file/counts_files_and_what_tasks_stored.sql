begin;
set local search_path = public, extensions;
select plan(3);

select tests.create_user('owner'), tests.create_user('stranger');
update private.quotas set amount = 100 where name = 'stored_bytes';
insert into storage.objects (bucket_id, name, metadata)
values ('supaswarm-data', tests.user_id('owner') || '/notes.md', '{"size": 60}');

select lives_ok(
  $$ select private.assert_may_keep_file(tests.user_id('owner'), 40) $$,
  'what the quota has room for'
);
select throws_ok(
  $$ select private.assert_may_keep_file(tests.user_id('owner'), 41) $$,
  'PT429', null,
  'nothing above the quota, earlier files counted'
);
select lives_ok(
  $$ select private.assert_may_keep_file(tests.user_id('stranger'), 100) $$,
  'each user has a quota of their own'
);

select * from finish();
rollback;
