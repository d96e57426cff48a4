begin;
set local search_path = public, extensions;
select plan(10);

create temp table made on commit drop as select tests.create_task() as ended, tests.create_task() as asking;
grant select on made to authenticated;
update public.tasks set status = 'failed', error = '{}', finished_at = now()
where id = (select ended from made);
insert into public.human_reviews (task_id, seq, question) select asking, 1, 'Which?' from made;
update public.tasks set status = 'needs_human_review' where id = (select asking from made);
create function pg_temp.continue_with(p_input text) returns text language sql as $$
  select tests.code_of(format('select public.continue_task((select ended from made), %s)', p_input))
$$;
create function pg_temp.answer_with(p_rest text) returns text language sql as $$
  select tests.code_of(format('select public.respond_to_review((select asking from made), true, %s)', p_rest))
$$;

select tests.act_as_user('owner');
select is(pg_temp.continue_with($$to_jsonb(repeat('x', 1048577))$$), 'TASK_INPUT_INVALID', 'more than one mebibyte is refused');
select is(pg_temp.continue_with($$('{"a":' || repeat('[', 64) || repeat(']', 64) || '}')::jsonb$$), 'TASK_INPUT_INVALID', 'more than 64 levels are refused');
select is(pg_temp.continue_with($$jsonb_build_object('a', (select jsonb_agg(0) from generate_series(1, 70001)))$$), 'TASK_INPUT_INVALID', 'more values than the reader accepts are refused');
select is(pg_temp.continue_with($$jsonb_build_object('a', '1e131000'::jsonb)$$), 'TASK_INPUT_INVALID', 'a number that no program can hold is refused');
select is(pg_temp.continue_with($$jsonb_build_object('a', (select jsonb_agg(1e-100) from generate_series(1, 1001)))$$), 'TASK_INPUT_INVALID', 'thousands of numbers that are long without their exponents are refused');
select is(pg_temp.answer_with($$to_jsonb(repeat('x', 1048577))$$), 'REVIEW_ANSWER_INVALID', 'an answer has the same limits');
select is(pg_temp.answer_with($$'{}', repeat('x', 1048577)$$), 'REVIEW_ANSWER_INVALID', 'comments have the same limit');
select is(pg_temp.continue_with($$jsonb_build_object(
  'text', repeat('a, "b" \ [{', 60000), 'deep', (repeat('[', 63) || repeat(']', 63))::jsonb,
  'float', 5e-324, 'limit', -1.7e308, 'rows', (select jsonb_agg(0) from generate_series(1, 20000)))$$), 'none', 'a large message within the limits is accepted, whatever its text contains');
select is(pg_temp.answer_with($$'{"choice": "the second"}', 'Thank you'$$), 'none', 'an answer within the limits is accepted');
select tests.act_as_nobody();
select is((select count(*)::int from public.task_steps where kind = 'user'), 1, 'refused messages leave no step');

select * from finish();
rollback;
