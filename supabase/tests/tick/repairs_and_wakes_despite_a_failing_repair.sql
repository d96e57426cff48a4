begin;
set local search_path = public, extensions;
select plan(8);

select private.configure_project_url('http://127.0.0.1:1');
update private.quotas set amount = null;
create temp table made (name text, id uuid) on commit drop;
create function pg_temp.task(p_name text) returns uuid language sql as $$ select id from made where name = p_name $$;

-- Two rows for each repair, of which one cannot be written.
insert into made select kind || ' ' || n, tests.create_task('{"max_wall_seconds": 60}')
from unnest(array['dead', 'overdue', 'lost', 'stranded']) as kind, generate_series(1, 2) as n;
select count(*) from private.claim_tasks('w1', 20, 30);
select private.request_review(id, tests.epoch_of(id), 2, 'May I?') from made where name like 'overdue%';
update public.tasks set started_at = now() - interval '61 seconds' where id in (select id from made where name like 'overdue%');
update public.tasks set deliveries = max_deliveries, lease_expires_at = now() - interval '1 second'
where id in (select id from made where name like 'dead%');
select private.request_review(id, tests.epoch_of(id), 2, 'May I?') from made where name like 'stranded%';
update public.human_reviews set answered_at = now() where task_id in (select id from made where name like 'stranded%');
select private.yield_task(id, tests.epoch_of(id)) from made where name like 'lost%';
delete from pgmq.q_agent_tasks;
set constraints all immediate;
delete from net.http_request_queue;

create function pg_temp.refuse_the_first() returns trigger language plpgsql as $$
begin
  if old.id in (select id from made where name like '% 1') then
    raise 'This row is broken';
  end if;
  return new;
end;
$$;
create trigger refuse_the_first before update on public.tasks for each row execute function pg_temp.refuse_the_first();

select lives_ok('select private.tick()', 'a tick with a row that each repair fails on');
select bag_eq(
  $$select made.name, task.status, exists (select from pgmq.q_agent_tasks where message ->> 'task_id' = task.id::text)
    from made join public.tasks as task using (id)$$,
  $$values
    ('dead 1', 'running', false), ('dead 2', 'failed', false),
    ('overdue 1', 'needs_human_review', false), ('overdue 2', 'failed', false),
    ('lost 1', 'pending', true), ('lost 2', 'pending', true),
    ('stranded 1', 'needs_human_review', false), ('stranded 2', 'pending', true)$$,
  'every other row is repaired'
);
select results_eq(
  'select routine, last_row_id, failure_count, last_error_code, last_error_message from public.maintenance_failures order by 1',
  $$select routine, pg_temp.task(name)::text, 1::bigint, 'P0001', 'This row is broken'
    from (values ('end_expired_task', 'dead 1'), ('end_overdue_job', 'overdue 1'),
      ('wake_stranded_task', 'stranded 1')) as failed (routine, name) order by 1$$,
  'operators see which row failed, and why'
);
select ok((select count(*) from net.http_request_queue) > 0, 'a worker is woken');

select private.tick();
select is((select min(failure_count) from public.maintenance_failures), 2::bigint, 'a repeated failure is counted');

-- Every repair fails as a whole, and so does the check of one kind of work.
create function pg_temp.break(p_routine text) returns void language plpgsql as $$
begin
  execute format('create or replace function private.%I() returns int language plpgsql as $f$ begin raise ''broken''; end $f$', p_routine);
end;
$$;
select pg_temp.break(routine)
from unnest(array['delete_old_records', 'end_expired_tasks', 'end_overdue_jobs', 'wake_stranded_tasks',
  'return_expired_tasks', 'repair_queue']) as routine;
update private.work_kinds set table_name = 'public.missing' where noun = 'sync';
delete from private.maintenance_failures;
delete from net.http_request_queue;

select lives_ok('select private.tick()', 'a tick of which every repair fails');
select results_eq(
  'select routine, last_row_id from public.maintenance_failures order by routine',
  $$values ('delete_old_records', null), ('end_expired_tasks', null), ('end_overdue_jobs', null), ('repair_queue', null),
    ('return_expired_tasks', null), ('wake_for_due_work', 'sync'), ('wake_stranded_tasks', null)$$,
  'each failure is recorded'
);
select is((select count(*) from net.http_request_queue)::int, 1, 'the worker for the waiting task is woken all the same');

select * from finish();
rollback;
