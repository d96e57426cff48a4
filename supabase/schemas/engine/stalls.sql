-- Work that waited although workers had time for it.

create function private.stalled_ms(p_task_ids uuid[])
returns float8
language plpgsql
stable
set search_path = ''
as $$
declare
  v_claimed_at timestamptz;
  v_ready_at timestamptz;
  v_other_at timestamptz;
begin
  select max(claim.at), min(greatest(task.run_after, (
    select max(before.at) from private.task_events as before where before.task_id = claim.task_id and before.id < claim.id
  )))
  into v_claimed_at, v_ready_at
  from (
    select distinct on (event.task_id) event.task_id, event.id, event.at
    from private.task_events as event
    where event.task_id = any (p_task_ids) and event.type in ('task.started', 'task.resumed')
    order by event.task_id, event.id desc
  ) as claim
  join public.tasks as task on task.id = claim.task_id;

  -- After a long backlog, an earlier claim of another task hardly matters.
  v_ready_at := greatest(v_ready_at, v_claimed_at - interval '5 minutes');
  select max(event.at) into v_other_at
  from private.task_events as event
  where event.at > v_ready_at and event.at < v_claimed_at
    and event.type in ('task.started', 'task.resumed')
    and event.task_id <> all (p_task_ids);
  return coalesce(1000 * extract(epoch from v_claimed_at - greatest(v_ready_at, v_other_at)), 0);
end;
$$;
comment on function private.stalled_ms(uuid[]) is
  'Milliseconds before the claim of these tasks in which one of them waited and no task of anybody was claimed, at most five minutes. Called by workers that had not looked for work for a while.';
