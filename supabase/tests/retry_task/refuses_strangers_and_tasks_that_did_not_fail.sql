begin;
set local search_path = public, extensions;
select plan(4);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated, anon;
select tests.create_user('stranger');

select tests.act_as_user('stranger');
select is(tests.code_of('select public.retry_task((select id from made))'), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_anon();
select is(tests.code_of('select public.retry_task((select id from made))'), '42501', 'anon may not call the function');
select tests.act_as_user('owner');
select is(tests.code_of('select public.retry_task((select id from made))'), 'TASK_NOT_RETRYABLE', 'a waiting task has not failed');
select tests.act_as_nobody();

select private.finish_task((select id from made), tests.claim((select id from made)), '{}');
select is(tests.code_of('select public.retry_task((select id from made))'), 'TASK_NOT_RETRYABLE', 'a completed task has not failed');

select * from finish();
rollback;
