begin;
set local search_path = public, extensions;
select plan(9);

create temp table made on commit drop as select tests.create_task() as id, tests.create_task() as other;
grant select on made to authenticated;
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "system", "name": "request_human_review", "call_id": "c1"}]');
select private.request_review((select id from made), tests.epoch_of((select id from made)), 1, 'Which?', '["red", "blue"]');
select private.begin_steps((select other from made), tests.epoch_of((select other from made)), 30, '[{"seq": 1, "kind": "system", "name": "request_human_review", "call_id": "c1"}]');
select private.request_review((select other from made), tests.epoch_of((select other from made)), 1, 'Which?', '["red", "blue"]');
create function pg_temp.answer(p_approved boolean, p_response jsonb) returns text language sql as $$
  select tests.code_of(format('select public.respond_to_review(%L, %L, %L)', (select id from made), p_approved, p_response));
$$;

select tests.act_as_user('owner');
select is(pg_temp.answer(true, '{}'), 'REVIEW_CHOICE_INVALID', 'an approval without a choice is refused');
select is(pg_temp.answer(true, null), 'REVIEW_CHOICE_INVALID', 'also without a response');
select is(pg_temp.answer(true, '{"choice": "green"}'), 'REVIEW_CHOICE_INVALID', 'so is a choice that is none of the options');
select is(pg_temp.answer(true, '{"choice": ["red"]}'), 'REVIEW_CHOICE_INVALID', 'or a list of options');
select is(pg_temp.answer(true, '{"choice": null}'), 'REVIEW_CHOICE_INVALID', 'or null');
select is(pg_temp.answer(false, '{"choice": "green"}'), 'REVIEW_CHOICE_INVALID', 'a rejection chooses one of the options or none');
select is(pg_temp.answer(true, '["red"]'), 'REVIEW_ANSWER_INVALID', 'a response is an object');
select is(public.respond_to_review((select id from made), true, '{"choice": "blue"}'), 'pending', 'one of the options is an answer');
select is(public.respond_to_review((select other from made), false), 'pending', 'a rejection needs no choice');
select tests.act_as_nobody();

select * from finish();
rollback;
