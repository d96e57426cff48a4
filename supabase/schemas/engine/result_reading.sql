-- Reading a stored result again: a claim does not send the results that a summary covers.

create function private.read_result(p_task_id uuid, p_epoch bigint, p_seq int)
returns table (name text, output jsonb)
language plpgsql
stable
set search_path = ''
as $$
begin
  if not exists (
    select from public.tasks as task
    where task.id = p_task_id and task.epoch = p_epoch and task.status = 'running'
  ) then
    perform private.raise_error('LEASE_LOST',
      format('Cannot read a result of task %s: epoch %s does not hold its lease', p_task_id, p_epoch),
      'Stop working on the task: another worker has it, or it has ended.');
  end if;
  return query
    select step.name, step.output
    from public.task_steps as step
    where step.task_id = p_task_id and step.seq = p_seq
      and step.kind = any ('{tool,system}') and step.state <> 'started';
end;
$$;
comment on function private.read_result(uuid, bigint, int) is
  'The result of an ended call of a task as its owner may read it, so without the text of a skill; no row for another step. Raises LEASE_LOST. Called by workers.';
