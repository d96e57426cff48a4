begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_project('handbook', 'member') as id;
select tests.create_user('reader');

select is(
  tests.code_of($$select private.add_project_member((select id from made), 'nobody@example.test')$$),
  'USER_NOT_FOUND', 'the email matches no user'
);
select is(
  tests.code_of($$select private.add_project_member((select id from made), gen_random_uuid()::text)$$),
  'USER_NOT_FOUND', 'the id matches no user'
);
select is(
  private.add_project_member((select id from made), 'READER@example.test'), tests.user_id('reader'),
  'a user is found by email regardless of case'
);

select * from finish();
rollback;
