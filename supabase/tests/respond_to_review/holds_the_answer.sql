begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May I?');

select tests.act_as_user('owner');
select is(tests.code_of($$select public.respond_to_review(p_task_id => (select id from made), p_approved => true, p_hold_seconds => 61)$$),
  'REVIEW_ANSWER_INVALID', 'more than a minute is refused');
select is(tests.code_of($$select public.respond_to_review(p_task_id => (select id from made), p_approved => true, p_hold_seconds => -1)$$),
  'REVIEW_ANSWER_INVALID', 'as is a negative time');
select is(tests.code_of($$select public.respond_to_review(p_task_id => (select id from made), p_approved => true, p_hold_seconds => null)$$),
  'REVIEW_ANSWER_INVALID', 'and none');
select is(public.respond_to_review(p_task_id => (select id from made), p_approved => true, p_hold_seconds => 30), 'pending', 'an answer may be held');
select tests.act_as_nobody();
select is((select count(*) from private.claim_tasks('w1', 5, 30))::int, 0, 'no worker gets the task meanwhile');
select is((select payload -> 'hold_seconds' from public.task_events where type = 'review.answered'), '30', 'the event says so');
update public.tasks set run_after = clock_timestamp() - interval '1 second';
select is((select count(*) from private.claim_tasks('w1', 5, 30))::int, 1, 'afterwards one does');
select is((select run_after from public.tasks), null, 'and nothing is left of the hold');

select * from finish();
rollback;
