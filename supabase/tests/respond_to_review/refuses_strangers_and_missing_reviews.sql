begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated, anon;
select tests.create_user('stranger');

select tests.act_as_user('stranger');
select is(tests.code_of($$select public.respond_to_review((select id from made), true)$$), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_anon();
select is(tests.code_of($$select public.respond_to_review((select id from made), true)$$), '42501', 'anon may not call the function');
select tests.act_as_user('owner');
select is(tests.code_of($$select public.respond_to_review((select id from made), true)$$), 'REVIEW_NOT_FOUND', 'a task without a review is refused');
select tests.act_as_nobody();

select * from finish();
rollback;
