begin;
set local search_path = public, extensions;
select plan(3);

create temp table made on commit drop as select tests.create_family(1) as id;
create temp table child on commit drop as select id from public.tasks where parent_id = (select id from made);
grant select on made, child to authenticated;
select tests.create_user('stranger');

select tests.act_as_user('stranger');
select is(tests.code_of($$select public.cancel_task((select id from made))$$), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_user('owner');
select is(tests.code_of($$select public.cancel_task((select id from child))$$), 'TASK_NOT_MASTER', 'a subtask is not a job');
select tests.act_as_nobody();
select is((select count(*) from public.tasks where finished_at is null)::int, 2, 'nothing has changed');

select * from finish();
rollback;
