begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "system", "name": "request_human_review", "call_id": "c1"}]');
select is(private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May I?'), 'parked', 'the task waits for a person');
select is((select count(*) from pgmq.q_agent_tasks)::int, 0, 'no message is queued');

select tests.act_as_user('owner');
select is(public.respond_to_review((select id from made), false, '{"why": "no"}', 'Not yet'), 'pending', 'a rejection resumes it as well');
select is(tests.code_of($$select public.respond_to_review((select id from made), true)$$), 'REVIEW_ALREADY_ANSWERED', 'a second answer is refused');
select tests.act_as_nobody();

select is((select output from public.task_steps), '{"approved": false, "response": {"why": "no"}, "comments": "Not yet"}'::jsonb, 'the agent reads the answer');
select is((select created_by from public.human_reviews), tests.user_id('owner'), 'the review stores who answered');

select * from finish();
rollback;
