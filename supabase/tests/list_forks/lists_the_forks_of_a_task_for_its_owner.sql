begin;
set local search_path = public, extensions;
select plan(8);

create temp table made on commit drop as select tests.create_task() as id;
grant select on made to authenticated, anon;
select tests.create_user('stranger');
select tests.claim((select id from made));
select private.record_steps((select id from made), tests.epoch_of((select id from made)), 30, '[
  {"seq": 1, "kind": "model", "state": "done", "output": {"text": "a"}},
  {"seq": 2, "kind": "model", "state": "done", "output": {"text": "b"}}
]');
select private.finish_task((select id from made), tests.epoch_of((select id from made)), '{}');

select tests.act_as_user('owner');
select is_empty('select * from public.list_forks((select id from made))', 'a task without forks has none');
create temp table fork on commit drop as
  select seq, public.fork_task((select id from made), seq) as id from generate_series(1, 2) as seq;
select results_eq(
  'select fork_id, from_seq from public.list_forks((select id from made))',
  'select id, seq from fork order by id', 'the owner reads the forked jobs and the step at which each begins'
);
select is_empty($$select * from public.list_forks((select id from fork where seq = 1))$$, 'a fork does not list itself');
select is((select count(*) from public.list_forks((select id from made), 1)), 1::bigint, 'the limit is respected');
select is(tests.code_of('select * from public.list_forks((select id from made), 0)'), 'QUERY_INVALID', 'a page has at least one row');
select tests.act_as_user('stranger');
select is(tests.code_of('select * from public.list_forks((select id from made))'), 'TASK_NOT_FOUND', 'a stranger finds no task');
select tests.act_as_anon();
select is(tests.code_of('select * from public.list_forks((select id from made))'), '42501', 'anon may not call the function');
select tests.act_as_nobody();
delete from public.tasks where id = (select id from fork where seq = 1);
select is((select array_agg(from_seq) from private.task_forks where source_task_id = (select id from made)), '{2}', 'a deleted fork is removed');

select * from finish();
rollback;
