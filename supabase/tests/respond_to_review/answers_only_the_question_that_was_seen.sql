begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May I read?');

select tests.act_as_user('owner');
select is(tests.code_of($$select public.respond_to_review(p_task_id => (select id from made), p_approved => true, p_seq => 2)$$),
  'REVIEW_NOT_FOUND', 'a question that was not asked has no answer');
select is(public.respond_to_review(p_task_id => (select id from made), p_approved => true, p_seq => 1), 'pending', 'the open one has');
select tests.act_as_nobody();
select tests.claim((select id from made));
select private.request_review((select id from made), tests.epoch_of((select id from made)), 2, 'May I delete?');

select tests.act_as_user('owner');
select is(tests.code_of($$select public.respond_to_review(p_task_id => (select id from made), p_approved => true, p_seq => 1)$$),
  'REVIEW_ALREADY_ANSWERED', 'the same answer again does not approve the next question');
select is((select count(*) from public.human_reviews where answered_at is null)::int, 1, 'which stays open');

select * from finish();
rollback;
