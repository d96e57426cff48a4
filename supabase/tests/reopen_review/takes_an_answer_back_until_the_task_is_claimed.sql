begin;
set local search_path = public, extensions;
select plan(19);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
create function pg_temp.code(p_statement text) returns text language sql as $$ select tests.code_of(p_statement) $$;
select tests.create_user('stranger');
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "system", "name": "request_human_review", "call_id": "c1"}]');
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May I?');

select tests.act_as_user('owner');
select is(pg_temp.code($$select public.reopen_review((select id from made))$$), 'REVIEW_NOT_REOPENABLE', 'an open question has no answer to take back');
select is(public.respond_to_review((select id from made), true, '{"why": "yes"}', 'Go'), 'pending', 'it is answered');
select is(public.reopen_review((select id from made)), 'needs_human_review', 'the answer is taken back');
select is(public.reopen_review((select id from made)), 'needs_human_review', 'a second time changes nothing');
select tests.act_as_nobody();

select results_eq(
  $$select approved, response, comments, created_by, answered_at, answered_as, answered_epoch from public.human_reviews$$,
  $$values (null::boolean, '{}'::jsonb, null::text, null::uuid, null::timestamptz, null::text, null::bigint)$$,
  'the review is open again, without the answer');
select is((select reopened_by from public.human_reviews), tests.user_id('owner'), 'and says who took it back');
select results_eq($$select state, output, ended_at from public.task_steps$$, $$values ('started', null::jsonb, null::timestamptz)$$,
  'its step has no result');
select is((select count(*) from pgmq.q_agent_tasks)::int, 0, 'no message is queued');
select is((select array_agg(type order by id) from public.task_events where type like 'review.%'),
  '{review.requested,review.answered,review.reopened}', 'the events record the answer and that it was taken back once');
select is((select payload ->> 'comments' from public.task_events where type = 'review.answered'), 'Go', 'with what it was');
select is((select payload ->> 'by' from public.task_events where type = 'review.reopened'), tests.user_id('owner')::text, 'and by whom');
select is((select payload ->> 'status' from public.task_events order by id desc limit 1), 'needs_human_review', 'watchers learn that the task waits again');

select tests.act_as_user('owner');
select is(public.respond_to_review((select id from made), false), 'pending', 'another answer can be given');
select tests.act_as_nobody();
select tests.claim((select id from made));
select tests.act_as_user('owner');
select is(pg_temp.code($$select public.reopen_review((select id from made))$$), 'REVIEW_NOT_REOPENABLE', 'an agent that runs has read it');
select tests.act_as_nobody();
select private.yield_task((select id from made), tests.epoch_of((select id from made)));
select is((select status from public.tasks), 'pending', 'a worker that hands the task back');
select tests.act_as_user('owner');
select is(pg_temp.code($$select public.reopen_review((select id from made))$$), 'REVIEW_NOT_REOPENABLE', 'leaves the answer read');
select public.cancel_task((select id from made));
select is(pg_temp.code($$select public.reopen_review((select id from made))$$), 'REVIEW_NOT_REOPENABLE', 'an ended task keeps its answer');
select tests.act_as_user('stranger');
select is(pg_temp.code($$select public.reopen_review((select id from made))$$), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_nobody();
create temp table quiet on commit drop as select tests.create_task() as id;
grant select on quiet to authenticated;
select tests.act_as_user('owner');
select is(pg_temp.code($$select public.reopen_review((select id from quiet))$$), 'REVIEW_NOT_FOUND', 'a task that asked nothing has no answer');
select tests.act_as_nobody();

select * from finish();
rollback;
