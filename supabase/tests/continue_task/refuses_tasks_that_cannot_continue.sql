begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_task('{"max_steps": 3}') as id;
grant select on made to authenticated;
select tests.create_user('stranger');

select tests.act_as_user('owner');
select is(
  tests.code_of($$select public.continue_task((select id from made), '"More"')$$),
  'TASK_NOT_CONTINUABLE', 'a waiting task is refused'
);
select public.cancel_task((select id from made));
select is(
  tests.code_of($$select public.continue_task((select id from made), '[1]')$$),
  'TASK_INPUT_INVALID', 'an input that is neither an object nor text is refused'
);
select is(
  tests.code_of($$select public.continue_task((select id from made), '""')$$),
  'TASK_INPUT_INVALID', 'an empty text is refused'
);
select tests.act_as_user('stranger');
select is(
  tests.code_of($$select public.continue_task((select id from made), '"More"')$$),
  'TASK_NOT_FOUND', 'another user''s task is not found'
);
select tests.act_as_user('owner');
select is(
  tests.code_of($$select public.continue_task((select id from made), '"More"', 1)$$),
  'TASK_NOT_CONTINUABLE', 'a caller who does not know the newest message is refused'
);
select is(
  (select public.continue_task((select id from made), '{"more": true}', 0)), 'pending', 'a cancelled task resumes'
);
select tests.act_as_nobody();

update public.tasks set status = 'cancelled', error = '{}', finished_at = now();
insert into public.task_steps (task_id, seq, kind, state, output, epoch, ended_at)
select id, 2, 'model', 'done', '{"text": "x", "tool_calls": []}', 0, now() from made;
select tests.act_as_user('owner');
select is(
  tests.code_of($$select public.continue_task((select id from made), '"More"')$$),
  'STEPS_EXCEEDED', 'a task without a remaining step is refused'
);
select tests.act_as_nobody();
select is((select status from public.tasks), 'cancelled', 'the task is unchanged');

select * from finish();
rollback;
