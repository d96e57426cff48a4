begin;
set local search_path = public, extensions;
select plan(7);

create temp table made (name text, id uuid) on commit drop;
create function pg_temp.task(p_name text) returns uuid language sql as $$ select id from made where name = p_name $$;
insert into made
select name, tests.create_task(budget)
from (values
  ('asking', '{"max_wall_seconds": 60}'::jsonb), ('running', '{"max_wall_seconds": 60}'),
  ('in time', '{"max_wall_seconds": 999999999999999}'), ('free', '{"max_wall_seconds": null}')
) as job (name, budget);
select count(*) from private.claim_tasks('w1', 4, 30, true);
select private.request_review(id, tests.epoch_of(id), 2, 'May I?') from made where name <> 'running';
insert into made select 'parent', tests.create_family(2);
select private.park_task(pg_temp.task('parent'), tests.epoch_of(pg_temp.task('parent')));
select count(*) from private.claim_tasks('w1', 1, 30);
insert into made select 'later', tests.create_task('{"max_wall_seconds": 60}');
update public.tasks set run_after = clock_timestamp() + interval '1 hour', created_at = now() - interval '1 hour' where id = pg_temp.task('later');
update public.tasks set budget = '{"max_wall_seconds": 60}' where id = pg_temp.task('parent');
update public.tasks set started_at = now() - interval '61 seconds' where started_at is not null;

select is(private.reconcile() ->> 'ended', '2', 'jobs that wait past their deadline end');
select bag_eq(
  'select made.name, task.status from public.tasks as task join made using (id)',
  $$values ('asking', 'failed'), ('running', 'running'), ('in time', 'needs_human_review'),
    ('free', 'needs_human_review'), ('parent', 'failed'), ('later', 'pending')$$,
  'other jobs stay: a running job ends at its next model call, and time starts with the first claim'
);
select is(
  (select error ->> 'code' || ': ' || (error ->> 'message') from public.tasks where id = pg_temp.task('asking')),
  'BUDGET_EXCEEDED: The job has used up its max_wall_seconds of 60', 'their errors give the reason'
);
select isnt((select answered_at from public.human_reviews where task_id = pg_temp.task('asking')), null, 'the review is closed');
select results_eq(
  $$select status, cancel_requested_at is not null from public.tasks where parent_id = pg_temp.task('parent') order by status$$,
  $$values ('cancelled', true), ('running', true)$$,
  'a waiting subtask ends, a running one is marked'
);
select is(public.retry_task(pg_temp.task('asking')), 'pending', 'a retry restarts the clock');
select is(private.reconcile() ->> 'ended', '0', 'the job is not ended again');

select * from finish();
rollback;
