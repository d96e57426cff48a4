begin;
set local search_path = public, extensions;
select plan(1);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;

select tests.act_as_user('owner');
select is(
  tests.code_of($$select public.respond_to_review((select id from made), null)$$),
  'REVIEW_ANSWER_INVALID', 'an answer that neither approves nor rejects is refused'
);
select tests.act_as_nobody();

select * from finish();
rollback;
