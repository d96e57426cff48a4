-- The forks of a task, for its owner and for operators who opened its job.

create function private.list_forks(p_task_id uuid, p_limit int)
returns setof private.task_forks
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  v_task constant public.tasks := private.readable_task(p_task_id);
begin
  perform private.assert_page_limit('list the forks', p_limit);
  return query
    select * from private.task_forks where source_task_id = v_task.id order by fork_id limit p_limit;
end;
$$;
comment on function private.list_forks(uuid, int) is
  'See public.list_forks(). Definer: users may not read task_forks; readable_task() checks the caller.';

create function public.list_forks(p_task_id uuid, p_limit int default 100)
returns table (fork_id uuid, from_seq int, created_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select fork.fork_id, fork.from_seq, fork.created_at from private.list_forks(p_task_id, p_limit) as fork;
$$;
comment on function public.list_forks(uuid, int) is
  'The jobs that are forks of a task, oldest first, with the step before which each of them begins. For the owner, the owner''s OAuth clients with the scope swarm:run, operators who opened the job, and the service. Raises TASK_NOT_FOUND, JOB_NOT_OPENED, QUERY_INVALID, INSUFFICIENT_SCOPE.';
revoke all on function public.list_forks(uuid, int) from public, anon, authenticated, service_role;
grant execute on function private.list_forks(uuid, int), public.list_forks(uuid, int) to authenticated, service_role;
