begin;
set local search_path = public, extensions;
select plan(6);

create temp table made on commit drop as select tests.create_task() as id;
update public.tasks set max_attempts = 2;
select tests.claim((select id from made));
create temp table failed on commit drop as
  select * from private.fail_task((select id from made), tests.epoch_of((select id from made)), '{"code": "MODEL_UNAVAILABLE", "message": "gone"}', 'backoff', 7);

select is((select status from failed), 'pending', 'the task is retried');
select ok((select retry_at >= clock_timestamp() + interval '6 seconds' from failed), 'the retry respects Retry-After');
select is((select attempts from public.tasks), 1, 'one attempt counts');

update public.tasks set run_after = null;
select tests.claim((select id from made));
select is(
  (select status from private.fail_task((select id from made), tests.epoch_of((select id from made)), '{"code": "MODEL_UNAVAILABLE", "message": "gone"}', 'backoff')),
  'failed', 'the last attempt fails the task'
);
select results_eq('select reason from private.dead_letters', array['attempts_exhausted'], 'a dead letter is written');
select is((select error ->> 'code' from public.tasks), 'MODEL_UNAVAILABLE', 'the error is stored');

select * from finish();
rollback;
