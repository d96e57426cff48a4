begin;
set local search_path = public, extensions;
select plan(5);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated, anon;
select tests.create_user('stranger');
select tests.claim((select id from made));
select private.begin_steps((select id from made), tests.epoch_of((select id from made)), 30, '[{"seq": 1, "kind": "model"}]');

select tests.act_as_user('stranger');
select is(tests.code_of('select public.fork_task((select id from made), 1)'), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_anon();
select is(tests.code_of('select public.fork_task((select id from made), 1)'), '42501', 'anon may not call the function');
select tests.act_as_user('owner');
select is(tests.code_of('select public.fork_task((select id from made), 2)'), 'FORK_POINT_INVALID', 'the first step has no result yet');
select is(tests.code_of('select public.fork_task((select id from made), 0)'), 'FORK_POINT_INVALID', 'step 0 does not exist');
select is(tests.code_of('select public.fork_task((select id from made), 1)'), 'none', 'a fork from the beginning always works');
select tests.act_as_nobody();

select * from finish();
rollback;
