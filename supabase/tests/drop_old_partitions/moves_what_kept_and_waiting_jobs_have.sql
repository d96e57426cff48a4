begin;
set local search_path = public, extensions;
select plan(9);

-- Jobs of one week long ago: one is kept, one has a subtask that waits for a person, two are neither.
create function tests.old_id() returns uuid language sql as $$
  select overlay(private.new_id()::text placing left(private.first_id_of('2024-01-10T00:00:00Z')::text, 13) from 1 for 13)::uuid
$$;
select private.make_partition('task_events', 'week', '2024-01-10T00:00:00Z'),
  private.make_partition('task_steps', 'week', '2024-01-10T00:00:00Z');
create temp table made on commit drop as
  select name, tests.old_id() as id from unnest('{kept,asking,first,second}'::text[]) as name;
insert into public.tasks (id, master_task_id, agent_slug, input, status, pending_children, is_kept, finished_at)
select id, id, 'a', '{}', case name when 'asking' then 'pending_subtask' else 'completed' end,
  (name = 'asking')::int, name = 'kept', case when name <> 'asking' then '2024-01-11T00:00:00Z'::timestamptz end
from made;
create temp table child on commit drop as
  select tests.old_id() as id, id as master_id from made where name = 'asking';
insert into public.tasks (id, master_task_id, parent_id, agent_slug, input, status)
select id, master_id, master_id, 'a', '{}', 'needs_human_review' from child;
insert into public.human_reviews (task_id, seq, question) select id, 1, 'Go on?' from child;
insert into made select 'child', id from child;
insert into public.task_steps (task_id, seq, kind, state, epoch) select id, 1, 'model', 'started', 1 from made;
insert into private.task_events (task_id, master_task_id, type, at)
select id, master_task_id, 'task.created', '2024-01-10T00:00:00Z' from public.tasks;
create function pg_temp.names_in(p_table text) returns text[] language plpgsql as $$
declare
  v_names text[];
begin
  execute format('select array_agg(made.name order by made.name) from %s as written join made on made.id = task_id', p_table) into v_names;
  return v_names;
end;
$$;
create temp table event_before on commit drop as
  select event.* from public.task_events as event join made on made.id = event.task_id where name not in ('first', 'second');
select private.expect_receiver('supaswarm:master:' || id) from made;
create temp table sent_before on commit drop as select id from realtime.messages;

select is(private.drop_old_partitions(), 1, 'a partition is dropped');
select is(private.drop_old_partitions(), 1, 'then the other, in a transaction of its own');
select is(pg_temp.names_in('private.task_events'), '{asking,child,kept}', 'the events of kept and waiting jobs stay');
select is(pg_temp.names_in('private.task_events_other'), '{asking,child,kept}', 'in the default partition');
select set_eq('select * from public.task_events', 'select * from event_before', 'unchanged');
select is(pg_temp.names_in('public.task_steps'), '{asking,child,kept}', 'so do their steps');
select set_eq('select id from realtime.messages', 'select id from sent_before', 'no event is sent again');
select is(private.drop_old_partitions(), 0, 'nothing is left to drop');
select is(private.delete_old_jobs(10), 2, 'the other jobs are deleted');

select * from finish();
rollback;
