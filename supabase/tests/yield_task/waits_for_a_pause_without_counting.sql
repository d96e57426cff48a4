begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
insert into private.pauses (kind, name, reason) values ('server', 'desk', 'A test');
update public.tasks set attempts = 2, failing_since = now() - interval '9 minutes';

select tests.claim((select id from made));
insert into public.task_steps (task_id, seq, kind, state, name, epoch)
select id, 1, 'model', 'started', 'model', epoch from public.tasks;
select ok(private.yield_task(
  (select id from made), tests.epoch_of((select id from made)), '[]',
  '{"seq": 1, "input_tokens": 1, "output_tokens": 1, "is_final": true}', '{"kind": "server", "name": "desk"}'
), 'even a call that was alone is no reason to fail');
select results_eq(
  'select status, attempts, deliveries, yields, runs_exclusively, run_after = private.end_of_pauses() from public.tasks',
  $$values ('pending', 2, 0, 0, false, true)$$, 'nothing is counted while it waits'
);
select is((select interruptions from public.task_steps), 0, 'the cut call is not held against it');

select private.end_pause('server', 'desk');
select is((select run_after from public.tasks), null, 'the end of the pause makes it due');

select tests.claim((select id from made));
select private.yield_task((select id from made), tests.epoch_of((select id from made)), '[]', null, '{"kind": "server", "name": "desk"}');
select is((select run_after from public.tasks), null, 'a pause that has ended in the meantime is not waited for');
select is((select count(*)::int from private.paused_tasks), 0, 'and leaves no note');

select * from finish();
rollback;
