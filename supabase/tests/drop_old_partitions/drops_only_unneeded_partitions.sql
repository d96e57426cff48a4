begin;
set local search_path = public, extensions;
select plan(12);

-- One job in each of three months: two ended long ago, one of which is retried, and one still runs.
create function tests.old_task(p_at timestamptz, p_status text, p_finished_at timestamptz) returns uuid
language plpgsql as $$
declare
  v_id constant uuid := tests.create_task();
  v_old_id constant uuid := overlay(v_id::text placing left(private.first_id_of(p_at)::text, 13) from 1 for 13)::uuid;
begin
  insert into public.tasks (id, master_task_id, agent_id, agent_slug, input, status, error, finished_at)
  select v_old_id, v_old_id, agent_id, agent_slug, input, p_status,
    case when p_status = 'failed' then '{}'::jsonb end, p_finished_at
  from public.tasks where id = v_id;
  perform private.make_partition('task_events', 'week', p_at), private.make_partition('task_steps', 'month', p_at);
  insert into private.task_events (task_id, master_task_id, type, at) values (v_old_id, v_old_id, 'task.created', p_at);
  insert into public.task_steps (task_id, seq, kind, state, epoch) values (v_old_id, 1, 'model', 'started', 1);
  perform private.cancel_task(v_id);
  return v_old_id;
end;
$$;
create temp table made on commit drop as
  select 'first' as name, tests.old_task('2024-01-10T00:00:00Z', 'failed', '2024-01-11T00:00:00Z') as id
  union all select 'second', tests.old_task('2024-02-14T00:00:00Z', 'failed', '2024-02-15T00:00:00Z')
  union all select 'third', tests.old_task('2024-03-13T00:00:00Z', 'needs_human_review', null);
create view tests.old_partition as
  select child.inhrelid::regclass::text as name from pg_inherits as child
  where inhparent in ('private.task_events'::regclass, 'public.task_steps'::regclass)
    and child.inhrelid::regclass::text ~ '_2024';

create function pg_temp.drop_all() returns int language plpgsql as $$
declare
  v_count int := 0;
begin
  while private.drop_old_partitions() > 0 loop
    v_count := v_count + 1;
  end loop;
  return v_count;
end;
$$;

insert into private.settings (key, value) values ('keep_events_days', '36500'), ('keep_jobs_days', '36500');
select is(pg_temp.drop_all(), 0, 'long settings keep everything');
update private.settings set value = '30' where key = 'keep_events_days';
-- Its task still runs and had a recent event.
insert into private.task_events (task_id, master_task_id, type) select id, id, 'review.requested' from made where name = 'third';
select is(pg_temp.drop_all(), 3, 'the weeks whose tasks are old are dropped');
select is_empty($$select name from tests.old_partition where name ~ 'events'$$, 'they are gone');
select results_eq(
  'select type from public.task_events where task_id in (select id from made)', array['review.requested'],
  'the recent event stays, in another partition');
select is((select count(*)::int from public.task_steps where task_id in (select id from made)), 3, 'transcripts are kept');

select lives_ok(format('select private.reopen_task(%L)', (select id from made where name = 'second')), 'a failed job is retried');
update private.settings set value = '90' where key = 'keep_jobs_days';
-- More steps than are moved while writers wait.
insert into public.task_steps (task_id, seq, kind, state, epoch)
select made.id, n, 'model', 'started', 1 from made, generate_series(2, 30001) as n where made.name = 'third';
select is(pg_temp.drop_all(), 2, 'the months in which few steps are of jobs that run are dropped');
select set_eq(
  $$select name from tests.old_partition where name ~ 'steps'$$, array['private.task_steps_2024m03'],
  'a month with many of them stays'
);
select set_eq(
  'select distinct made.name from made join public.task_steps as step on step.task_id = made.id', array['second', 'third'],
  'jobs that still run keep their transcripts'
);
select is(
  tests.code_of(format('select private.reopen_task(%L)', (select id from made where name = 'first'))), 'TASK_NOT_RETRYABLE',
  'a task without its transcript cannot be retried, since it would repeat its effects'
);
update private.settings set value = '36500' where key = 'keep_jobs_days';
select pg_temp.drop_all();
select is(
  tests.code_of(format('select private.reopen_task(%L)', (select id from made where name = 'first'))), 'TASK_NOT_RETRYABLE',
  'a longer setting does not restore the transcript'
);
update private.settings set value = '90' where key = 'keep_jobs_days';
select is(private.delete_old_jobs(10), 1, 'the job itself is deleted');

select * from finish();
rollback;
