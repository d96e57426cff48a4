begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as id;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "system", "name": "request_human_review", "call_id": "c1"}]');
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'May I?');
select private.cancel_task((select id from made));

select is(private.retry_task((select id from made)), 'pending', 'a cancelled job resumes');
select is((select cancel_requested_at from public.tasks), null, 'the cancellation request is cleared');
select is(private.request_review((select id from made), tests.claim((select id from made)), 1, 'May I?'), 'parked', 'the task waits for the answer again');
select is(private.respond_to_review((select id from made), true, '{}', null), 'pending', 'the review can be answered');

select * from finish();
rollback;
