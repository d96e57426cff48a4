begin;
set local search_path = public, extensions;
select plan(3);

create temp table made (name text, id uuid) on commit drop;
create function pg_temp.task(p_name text) returns uuid language sql as $$ select id from made where name = p_name $$;
insert into made select name, tests.create_task() from unnest(array['asking', 'busy', 'dead', 'hanging']) as name;
select count(*) from private.claim_tasks('w1', 4, 30);
select private.request_review(pg_temp.task('asking'), tests.epoch_of(pg_temp.task('asking')), 2, 'May I?');
insert into made select 'stranded', tests.create_family(1);
select private.park_task(pg_temp.task('stranded'), tests.epoch_of(pg_temp.task('stranded')));
update public.tasks set status = 'completed', finished_at = clock_timestamp()
where parent_id = pg_temp.task('stranded');
insert into made select name, tests.create_task() from unnest(array['later', 'unclaimed']) as name;
select is_empty($$select * from public.stuck_tasks where reason <> 'nothing_to_wait_for'$$, 'a task that has just begun is not stuck');

-- A day passes in which only the following happens.
set constraints all immediate;
alter table public.tasks disable trigger tasks_touch_updated_at;
update public.tasks
set updated_at = updated_at - interval '25 hours', lease_expires_at = lease_expires_at - interval '25 hours';
alter table public.tasks enable trigger tasks_touch_updated_at;
update public.task_steps set started_at = started_at - interval '25 hours', ended_at = ended_at - interval '25 hours';
update private.task_events set at = at - interval '25 hours';
update public.tasks set run_after = clock_timestamp() + interval '1 hour' where id = pg_temp.task('later');
select private.heartbeat('w1', jsonb_agg(jsonb_build_object('id', id, 'epoch', tests.epoch_of(id))), 30)
from made where name in ('busy', 'hanging');
select private.record_steps(pg_temp.task('busy'), tests.epoch_of(pg_temp.task('busy')), 30, '[{"seq": 1, "kind": "model", "state": "done", "output": {"text": "", "tool_calls": []}}]', '[]');

select bag_eq(
  'select made.name, stuck.reason from public.stuck_tasks as stuck join made on made.id = stuck.task_id',
  $$values ('asking', 'review_unanswered'), ('dead', 'lease_expired'), ('hanging', 'no_progress'),
    ('stranded', 'nothing_to_wait_for'), ('unclaimed', 'not_claimed')$$,
  'each row has its reason'
);
select ok(
  (select since < now() - interval '1 day' from public.stuck_tasks where reason = 'no_progress'),
  'a task without new events is stuck, whatever its worker''s heartbeats are'
);

select * from finish();
rollback;
